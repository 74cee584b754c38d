-- The selection, or else the cursor, as LSP positions; and the server is informed of it.
local server = require('stet.server')
local M = {}

local function position(at, past)
  local text, encoding = vim.fn.getline(at[2]), (server.client() or {}).offset_encoding or 'utf-16'
  local units = vim.str_utfindex(text, encoding, math.max(at[3] - 1 + past, 0), false)
  return { line = at[2] - 1, character = units }
end

-- Return the first and the last position, and whether the cursor is at the first.
-- `lines` are the first and the last line of a command's range: the last selection, or whole lines.
function M.get(lines)
  local other, cursor, visual = vim.fn.getpos('v'), vim.fn.getpos('.'), vim.fn.mode():match('^[vV\22]')
  if lines then
    other, cursor, visual = vim.fn.getpos("'<"), vim.fn.getpos("'>"), vim.fn.visualmode()
    if other[2] ~= lines[1] or cursor[2] ~= lines[2] then
      other, cursor, visual = { 0, lines[1], 1, 0 }, { 0, lines[2], 1, 0 }, 'V'
    end
  end
  if not visual then return position(cursor, 0), position(cursor, 0), true end
  local region = vim.fn.getregionpos(other, cursor, { type = visual })
  local backwards = cursor[2] < other[2] or (cursor[2] == other[2] and cursor[3] < other[3])
  return position(region[1][1], 0), position(region[#region][2], 1), backwards
end

-- Return the arguments of a question: the file and the range, if Stet serves the buffer.
function M.question(lines)
  if not server.client() then return {} end
  local first, last = M.get(lines)
  return { uri = vim.uri_from_bufnr(0), range = { start = first, ['end'] = last } }
end

local timer = assert(vim.uv.new_timer())
local function send()
  local stet = server.client()
  if not stet then return end
  local first, last, backwards = M.get()
  local function at(line) return { line = line, character = 0 } end
  stet:notify('$/stet/didChangeSelection', {
    textDocument = { uri = vim.uri_from_bufnr(0) },
    selections = { { anchor = backwards and last or first, active = backwards and first or last } },
    visibleRange = { start = at(vim.fn.line('w0') - 1), ['end'] = at(vim.fn.line('w$')) },
  })
end
-- Send where the user is, a tenth of a second after the last movement.
function M.changed() timer:start(100, 0, vim.schedule_wrap(send)) end

return M
