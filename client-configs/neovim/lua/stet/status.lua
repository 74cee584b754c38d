-- What runs and what is pending in all files: for the status line and the list.
local M = {}

local work, waiting = {}, {}
local names = { proposal = 'hunk', conflict = 'conflict', question = 'question' }
local list_title = 'Stet: pending hunks'
local function clients() return vim.lsp.get_clients({ name = 'stet' }) end

-- Note what a client does; without a token all that it did is over.
function M.note_work(client, token, text)
  work = vim.tbl_filter(function(one) return one.client ~= client or (token and one.token ~= token) end, work)
  if text then table.insert(work, { client = client, token = token, text = text }) end
  vim.cmd.redrawstatus()
end

-- Return the text for 'statusline'; empty where Stet does not run.
function M.line()
  if #clients() == 0 then return '' end
  local parts = vim.tbl_map(function(one) return vim.fn.printf('%.50S', one.text) end, work)
  for code, name in vim.spairs(names) do
    local n = #vim.tbl_filter(function(found) return found.code == code end, waiting)
    if n > 0 then table.insert(parts, n .. ' ' .. name .. (n > 1 and 's' or '')) end
  end
  return 'Stet' .. (#parts > 0 and ': ' .. table.concat(parts, ', ') or '')
end

-- Open a quickfix list.
function M.open_list(title, items)
  if #items == 0 then return vim.notify('Stet: nothing found') end
  vim.fn.setqflist({}, ' ', { title = title, items = items })
  vim.cmd('botright copen')
end

local function pending()
  local items = vim.diagnostic.toqflist(waiting)
  for _, item in ipairs(items) do item.text = item.text:match('[^\n]*') end
  return items
end

-- Open the list of what is pending, which is kept up to date while it is the current one.
function M.list() M.open_list(list_title, pending()) end

-- Read the diagnostics of all files again.
function M.update()
  waiting = {}
  for _, stet in ipairs(clients()) do
    local namespace = vim.lsp.diagnostic.get_namespace(stet.id)
    vim.list_extend(waiting, vim.diagnostic.get(nil, { namespace = namespace }))
  end
  waiting = vim.tbl_filter(function(found) return names[found.code] end, waiting)
  if vim.fn.getqflist({ title = 0 }).title == list_title then
    vim.fn.setqflist({}, 'u', { title = list_title, items = pending() })
  end
  vim.cmd.redrawstatus()
end

return M
