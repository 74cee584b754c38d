-- The files that Stet writes for the user: the diff of a review, and chats.
local M = {}

function M.is_page(buffer)
  local file = vim.api.nvim_buf_get_name(buffer):match('[/\\]stet[/\\]([^/\\]+)$') or ''
  return file:match('^review%-[%x-]+%.diff$') ~= nil or file:match('^chat%-%x+%-[%w_-]+%.md$') ~= nil
end

function M.is_chat(buffer) return M.is_page(buffer) and vim.bo[buffer].filetype == 'markdown' end

return M
