-- The window of a chat: beside the code, at its end, which it follows while the cursor is there.
local pages = require('stet.pages')
local M = {}

local WIDE = 120 -- columns from which the chat is at the right of the code, not below it
local namespace = vim.api.nvim_create_namespace('stet.chat')

-- Prepare a window for reading: prose without the columns of code.
local function prepare(window)
  local options = vim.wo[window][0]
  options.linebreak, options.conceallevel = true, 2
  options.number, options.relativenumber, options.signcolumn = false, false, 'no'
end

local function go_to_end(window)
  vim.api.nvim_win_call(window, function()
    vim.cmd('normal! G$')
    if vim.fn.line('w$') == vim.fn.line('$') then vim.cmd('normal! zb') end
  end)
end

-- Hide the times of messages where the cursor is not, and say at the last heading of the user how
-- what is written there is sent.
local function draw(buffer)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for n, line in ipairs(lines) do
    if line:match('^%*asked %d+%-.* · ended .*Z%*$') then
      vim.api.nvim_buf_set_extmark(buffer, namespace, n - 1, 0, { conceal_lines = '' })
      if lines[n + 1] == '' then
        vim.api.nvim_buf_set_extmark(buffer, namespace, n, 0, { conceal_lines = '' })
      end
    end
  end
  for row = #lines - 1, 0, -1 do
    if lines[row + 1]:match('^## You%s*$') then
      local hint = require('stet.keys').shown('send') .. ' sends what you write here'
      vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, { virt_text = { { ' ' .. hint, 'Comment' } } })
      return
    end
  end
end

-- Follow what is written at the end of a chat, in each window whose cursor was there. Who types is
-- left alone.
local function on_lines(buffer, last, new_last)
  local after = vim.api.nvim_buf_line_count(buffer)
  local before = after - (new_last - last)
  local following = vim.tbl_filter(function(window)
    local is_typed_in = window == vim.api.nvim_get_current_win() and vim.fn.mode() ~= 'n'
    return not is_typed_in and vim.api.nvim_win_get_cursor(window)[1] >= before
  end, vim.fn.win_findbuf(buffer))
  vim.schedule(function()
    if not vim.api.nvim_buf_is_loaded(buffer) then return end
    draw(buffer)
    for _, window in ipairs(following) do
      local is_there = vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) == buffer
      local is_typed_in = window == vim.api.nvim_get_current_win() and vim.fn.mode() ~= 'n'
      if is_there and not is_typed_in then go_to_end(window) end
    end
  end)
end

-- Prepare the buffer of a chat, and the windows that show it.
function M.attach(buffer)
  if not pages.is_chat(buffer) then return end
  vim.treesitter.start(buffer, 'markdown')
  vim.tbl_map(prepare, vim.fn.win_findbuf(buffer))
  draw(buffer)
  if vim.b[buffer].stet_is_followed then return end
  vim.b[buffer].stet_is_followed = true
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = function(_, _, _, _, last, new_last) on_lines(buffer, last, new_last) end,
    on_detach = function() vim.b[buffer].stet_is_followed = nil end,
  })
end

-- Show the end of the chat in the current window.
function M.go_to_end() go_to_end(vim.api.nvim_get_current_win()) end

-- Show a document for the server: a chat in a window of its own, anything else as Neovim does.
function M.show_document(err, params, context)
  local path = vim.startswith(params.uri, 'file:') and vim.uri_to_fname(params.uri) or ''
  if params.external or not pages.is_chat_name(path) then
    return vim.lsp.handlers['window/showDocument'](err, params, context)
  end
  local buffer, back = vim.uri_to_bufnr(params.uri), vim.api.nvim_get_current_win()
  local window = vim.fn.win_findbuf(buffer)[1]
  local is_here = window and vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage()
  if not is_here then
    vim.cmd(vim.o.columns >= WIDE and 'botright vsplit' or 'botright split')
    window = vim.api.nvim_get_current_win()
    vim.bo[buffer].buflisted = true
    vim.api.nvim_win_set_buf(window, buffer)
    prepare(window)
    go_to_end(window)
    vim.api.nvim_set_current_win(back)
  end
  if params.takeFocus then
    vim.api.nvim_set_current_win(window)
    go_to_end(window)
  end
  return { success = true }
end

return M
