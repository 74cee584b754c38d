-- Decisions on hunks.
local hunks, keys, server = require('stet.hunks'), require('stet.keys'), require('stet.server')
local messages = require('stet.messages')
local page, pages = require('stet.review_page'), require('stet.pages')
local M = {}

-- Call `act` with the hunk at the cursor, in a file or in a review page, and whether it is a conflict.
local function at_hunk(act)
  if pages.is_review(0) then
    local hunk, is_conflict = page.hunk_here()
    if hunk then return act(hunk, is_conflict) end
  end
  hunks.with_current(function(hunk, is_conflict)
    if hunk then return act(hunk, is_conflict) end
    vim.notify('Stet: no hunk on this line; ' .. keys.shown('next') .. ' goes to the next')
  end)
end

-- Decide on a hunk. It counts as decided at once, so that the next jump goes past it.
local function decide(command, hunk, more)
  local function undecided() hunks.decided(hunk, false) end
  hunks.decided(hunk)
  messages.clear()
  server.run(command, vim.tbl_extend('error', { hunk = hunk }, more or {}), function(answer)
    if #(answer.refused or {}) > 0 then undecided() end
  end, undecided)
end

function M.accept()
  at_hunk(function(hunk) decide('stet.accept', hunk) end)
end

function M.reject(given)
  at_hunk(function(hunk)
    local function with(reason) return reason and decide('stet.reject', hunk, { reason = reason }) end
    if (given.text or '') ~= '' then return with(given.text) end
    vim.ui.input({ prompt = 'Reject, because: ' }, with)
  end)
end

function M.resolve()
  at_hunk(function(hunk, is_conflict)
    if not is_conflict then return vim.notify('Stet: this hunk is not in conflict') end
    local ways = {
      mine = 'Keep yours, drop the proposal',
      theirs = 'Take the proposal, drop yours',
      markers = 'Keep both, between markers',
      retry = 'Retry with your text',
    }
    local options = { prompt = 'You edited these lines:', format_item = function(how) return ways[how] end }
    local function with(how) return how and server.run('stet.resolve', { hunk = hunk, how = how }) end
    vim.ui.select({ 'mine', 'theirs', 'markers', 'retry' }, options, with)
  end)
end

-- Send a command for one of some hunks, which the user chooses if there are more.
local function choose(command, some)
  local function with(hunk) return hunk and server.run(command, { hunk = hunk.hunk }) end
  if #some == 1 then return with(some[1]) end
  local names = { superseded = 'replaced' }
  local function title(hunk) return ('%s (%s)'):format(hunk.summary, names[hunk.state] or hunk.state) end
  vim.ui.select(some, { prompt = 'Stet: which of these', format_item = title }, with)
end

-- Decided hunks have no diagnostic, so the server says which were at this line.
local function go_back(command, states, on_none)
  local in_page = pages.is_review(0) and page.hunk_here()
  if in_page then return server.run(command, { hunk = in_page }) end
  local line = vim.fn.line('.') - 1
  server.run('stet.proposals', { uri = vim.uri_from_bufnr(0) }, function(hunks)
    local here = vim.tbl_filter(function(hunk)
      local first, last = hunk.range.start.line, hunk.range['end']
      local past = math.max(last.character > 0 and last.line + 1 or last.line, first + 1)
      return states[hunk.state] and first <= line and line < past
    end, hunks)
    if #here == 0 then return on_none() end
    choose(command, here)
  end)
end

-- A deleted file has no line to be undone at: offer all of them.
local function undo_deletion()
  server.run('stet.proposals', { state = 'accepted' }, function(hunks)
    local deleted = vim.tbl_filter(function(hunk) return hunk.kind == 'remove' end, hunks)
    if #deleted == 0 then return vim.notify('Stet: no accepted hunk on this line') end
    local function title(hunk) return 'Bring back ' .. vim.fn.fnamemodify(vim.uri_to_fname(hunk.uri), ':.') end
    vim.ui.select(deleted, { prompt = 'Stet: no accepted hunk on this line, but deleted files', format_item = title },
      function(hunk) return hunk and server.run('stet.undo', { hunk = hunk.hunk }) end)
  end)
end

function M.undo() go_back('stet.undo', { accepted = true }, undo_deletion) end
function M.restore()
  local states = { rejected = true, undone = true, superseded = true }
  go_back('stet.restore', states, function() vim.notify('Stet: no rejected or replaced hunk on this line') end)
end

-- Go to the next or the previous hunk: of the page, or of any file.
function M.next() return pages.is_review(0) and page.go(true) or hunks.next() end
function M.previous() return pages.is_review(0) and page.go(false) or hunks.previous() end

-- Decide all hunks of the file.
function M.file(command) server.run(command, { uri = vim.uri_from_bufnr(0) }) end

-- Open all hunks of the file as one diff; what remains in it is accepted when it is saved.
function M.review() server.run('stet.review', { uri = vim.uri_from_bufnr(0), acceptOnSave = true }) end

return M
