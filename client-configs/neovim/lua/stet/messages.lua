-- What is said to the user: in the message line, whole in `:messages`, and at the cursor.
local pages = require('stet.pages')
local M = {}

-- Show one line at the bottom. Redrawn, because messages that come together would ask for Enter.
function M.show(text, highlight)
  if vim.fn.mode() == 'c' then return end
  vim.cmd.redraw()
  local line = vim.fn.printf('%.' .. vim.v.echospace .. 'S', (text:gsub('%s+', ' ')))
  vim.api.nvim_echo({ { line, highlight } }, false, {})
  vim.cmd.redraw()
end

-- Put a text into `:messages`, whole, without a stop for Enter.
local function keep(text)
  local more, options = vim.o.more, vim.o.messagesopt
  vim.o.more, vim.o.messagesopt = false, options:gsub('hit%-enter', 'wait:0')
  vim.api.nvim_echo({ { text } }, true, {})
  vim.cmd.redraw()
  vim.o.more, vim.o.messagesopt = more, options
end

-- What is too long for the line is also shown at the cursor, until you move on; a chat holds it anyway.
function M.show_message(_, message)
  local text, highlights = message.message, { 'ErrorMsg', 'WarningMsg' }
  local answer = require('stet.keys').shown('answer')
  text = text:gsub('\nAnswer with [^\n]*`stet%.answer`.*', function() return '\n(answer: ' .. answer .. ')' end)
  keep(text)
  M.show(text, highlights[message.type])
  local is_long = text:find('\n') or vim.fn.strdisplaywidth(text) > vim.v.echospace
  if is_long and vim.fn.mode() == 'n' and not pages.is_page(0) then
    local options = { max_width = 88, border = 'rounded' }
    local lines = vim.split(text, '\n', { trimempty = true })
    local _, window = vim.lsp.util.open_floating_preview(lines, 'markdown', options)
    vim.wo[window].linebreak = true
    local height = math.min(vim.api.nvim_win_text_height(window, {}).all, vim.o.lines - 6)
    vim.api.nvim_win_set_height(window, height)
  end
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
