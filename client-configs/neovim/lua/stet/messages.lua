-- What is said to the user: in the message line, whole in `:messages`, and at the cursor.
local pages = require('stet.pages')
local M = {}

local HUNKS_COME = 100 -- milliseconds in which the hunks of a turn come that has just ended

-- Fit a text into the message line: without the usage of a turn, or else cut.
local function fitted(text)
  local room = vim.v.echospace
  text = text:gsub('%s+', ' ')
  if vim.fn.strdisplaywidth(text) > room then text = text:gsub(' %(%d+ rounds?, [^()]*%b()[^()]*%)$', '') end
  if vim.fn.strdisplaywidth(text) > room then text = text:gsub(' %(%d+ rounds?, [^()]*%)$', '') end
  if vim.fn.strdisplaywidth(text) <= room then return text end
  return vim.fn.printf('%.' .. room - 1 .. 'S…', text)
end

-- Show one line at the bottom. Redrawn, because messages that come together would ask for Enter.
function M.show(text, highlight)
  if vim.fn.mode() == 'c' then return end
  vim.cmd.redraw()
  vim.api.nvim_echo({ { fitted(text), highlight } }, false, {})
  vim.cmd.redraw()
end

-- Where the user was when a message about that place was shown, which progress does not replace.
local held
local function place() return { vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] } end

-- Show a message about the place of the cursor; it stays until the cursor leaves the line.
function M.show_place(text)
  M.show(text)
  held = place()
end

-- Empty the message line: what it says about a hunk no longer holds.
function M.clear()
  if vim.fn.mode() ~= 'c' then vim.api.nvim_echo({ { '' } }, false, {}) end
end

-- Let progress be shown again.
function M.release() held = nil end

-- Show what a turn does, unless a message about the place of the cursor is shown.
function M.show_progress(text)
  if held and vim.deep_equal(held, place()) then return end
  held = nil
  M.show(text)
end

-- Put a text into `:messages`, whole, without a stop for Enter.
local function keep(text)
  local more, options = vim.o.more, vim.o.messagesopt
  vim.o.more, vim.o.messagesopt = false, options:gsub('hit%-enter', 'wait:0')
  vim.api.nvim_echo({ { text } }, true, {})
  vim.cmd.redraw()
  vim.o.more, vim.o.messagesopt = more, options
end

local popup -- the window of the last message at the cursor that may be closed
local waiting -- the last message that is to be shown at the cursor, until hunks are drawn there

-- Close a message at the cursor, unless it asks something, and withdraw one that waits: hunks come first.
function M.uncover()
  if popup and vim.api.nvim_win_is_valid(popup) then vim.api.nvim_win_close(popup, true) end
  popup, waiting = nil, nil
end

-- Show a text at the cursor, until the user moves on.
local function show_at_cursor(text)
  local options = { max_width = 88, border = 'rounded' }
  local lines = vim.split(text, '\n', { trimempty = true })
  local _, window = vim.lsp.util.open_floating_preview(lines, 'markdown', options)
  vim.wo[window].linebreak = true
  local height = math.min(vim.api.nvim_win_text_height(window, {}).all, vim.o.lines - 6)
  vim.api.nvim_win_set_height(window, height)
  return window
end

-- Name Neovim's keys instead of what all editors call the commands.
function M.with_keys(text)
  local shown = require('stet.keys').shown
  text = text:gsub('\nAnswer with [^\n]*`stet%.answer`.*', function() return '\n(answer: ' .. shown('answer') .. ')' end)
  text = text:gsub('with Stet: Restore', function() return 'with ' .. shown('restore') end)
  return (text:gsub('`stet%.undo`', function() return shown('undo') end))
end

-- What is too long for the line is also shown at the cursor, until you move on; a chat holds it anyway.
-- Only a question may cover hunks: its text has more than one line.
function M.show_message(_, message)
  local text, highlights = M.with_keys(message.message), { 'ErrorMsg', 'WarningMsg' }
  keep(text)
  M.release()
  M.show(text, highlights[message.type])
  local is_question, buffer = text:find('\n') ~= nil, vim.api.nvim_get_current_buf()
  local is_long = is_question or vim.fn.strdisplaywidth(text) > vim.v.echospace
  if not is_long or vim.fn.mode() ~= 'n' or pages.is_page(0) then return end
  if is_question then return show_at_cursor(text) end
  waiting = message
  vim.defer_fn(function()
    local is_here = vim.api.nvim_get_current_buf() == buffer and vim.fn.mode() == 'n'
    if waiting == message and is_here and not require('stet.hunks').are_in_view() then popup = show_at_cursor(text) end
  end, HUNKS_COME)
end

-- A question stops nothing the user does: it is shown, and waits for its answer.
function M.show_question(_, question)
  local text = question.message:gsub('\n%(Or answer in your own words.*', '')
  M.show_message(nil, { message = text .. '\n(answer: ' .. require('stet.keys').shown('answer') .. ')' })
  return vim.NIL
end

-- Show the error of a request, if there is one.
function M.refuse(err)
  if err then M.show_message(nil, { type = 2, message = 'Stet: ' .. err.message }) end
end

-- Warn in one line.
function M.warn(text) M.show_message(nil, { type = 2, message = 'Stet: ' .. text }) end

return M
