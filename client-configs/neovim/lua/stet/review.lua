-- Decisions on hunks.
local keys, server = require('stet.keys'), require('stet.server')
local M = {}

-- Call `act` with the hunk under the cursor: a hunk is a diagnostic that carries its id.
local function at_hunk(act)
  local stet = server.client()
  local namespace = stet and vim.lsp.diagnostic.get_namespace(stet.id)
  local line = vim.fn.line('.') - 1
  local here = stet and vim.diagnostic.get(0, { namespace = namespace, lnum = line }) or {}
  local hunk = vim.tbl_get(here, #here, 'user_data', 'lsp', 'data', 'hunk')
  if not hunk then return vim.notify('Stet: no hunk on this line; ' .. keys.shown('next') .. ' goes to the next') end
  act(hunk, here[#here])
end

function M.accept()
  at_hunk(function(hunk) server.run('stet.accept', { hunk = hunk }) end)
end

function M.reject(given)
  at_hunk(function(hunk)
    local function with(reason) return reason and server.run('stet.reject', { hunk = hunk, reason = reason }) end
    if (given.text or '') ~= '' then return with(given.text) end
    vim.ui.input({ prompt = 'Reject, because: ' }, with)
  end)
end

function M.resolve()
  at_hunk(function(hunk, diagnostic)
    if diagnostic.code ~= 'conflict' then return vim.notify('Stet: this hunk is no conflict') end
    local ways = {
      mine = 'Keep my text, drop the proposal',
      theirs = 'Take the proposal, drop my text',
      markers = 'Keep both, between markers',
      retry = 'Retry with my text',
    }
    local options = { prompt = 'You edited these lines:', format_item = function(how) return ways[how] end }
    local function with(how) return how and server.run('stet.resolve', { hunk = hunk, how = how }) end
    vim.ui.select({ 'mine', 'theirs', 'markers', 'retry' }, options, with)
  end)
end

-- Decided hunks have no diagnostic, so the server says which were at this line.
local function go_back(command, states, nothing)
  local line = vim.fn.line('.') - 1
  server.run('stet.proposals', { uri = vim.uri_from_bufnr(0) }, function(hunks)
    local here = vim.tbl_filter(function(hunk)
      local first, last = hunk.range.start.line, hunk.range['end']
      local past = math.max(last.character > 0 and last.line + 1 or last.line, first + 1)
      return states[hunk.state] and first <= line and line < past
    end, hunks)
    if #here == 0 then return vim.notify('Stet: ' .. nothing) end
    local function with(hunk) return hunk and server.run(command, { hunk = hunk.hunk }) end
    if #here == 1 then return with(here[1]) end
    local function title(hunk) return hunk.hunk .. ' (' .. hunk.state .. '): ' .. hunk.summary end
    vim.ui.select(here, { prompt = 'Stet: which of these', format_item = title }, with)
  end)
end

function M.undo() go_back('stet.undo', { accepted = true }, 'no accepted hunk on this line') end
function M.restore() go_back('stet.restore', { rejected = true, undone = true }, 'no rejected hunk here') end

-- Go to a hunk, in any file.
function M.go(command)
  local here = { uri = vim.uri_from_bufnr(0), line = vim.fn.line('.') }
  server.run(command, here, function(found) return found or vim.notify('Stet: nothing to review') end)
end

-- Decide all hunks of the file, or review them as one diff.
function M.file(command) server.run(command, { uri = vim.uri_from_bufnr(0) }) end

return M
