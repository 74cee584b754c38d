-- The files that Stet writes for the user: the diff of a review, and chats.
local M = {}

local function file_of(path) return path:match('[/\\]stet[/\\]([^/\\]+)$') or '' end

function M.is_review(buffer)
  return file_of(vim.api.nvim_buf_get_name(buffer)):match('^review%-[%x-]+%.diff$') ~= nil
end

-- Return whether a path is that of a chat.
function M.is_chat_name(path) return file_of(path):match('^chat%-%x+%-[%w_-]+%.md$') ~= nil end

function M.is_page(buffer) return M.is_review(buffer) or M.is_chat_name(vim.api.nvim_buf_get_name(buffer)) end

function M.is_chat(buffer) return M.is_page(buffer) and vim.bo[buffer].filetype == 'markdown' end

return M
