-- The files that Stet writes for the user: the diff of a review, and chats.
local M = {}

local function file_of(buffer) return vim.api.nvim_buf_get_name(buffer):match('[/\\]stet[/\\]([^/\\]+)$') or '' end

function M.is_review(buffer) return file_of(buffer):match('^review%-[%x-]+%.diff$') ~= nil end

function M.is_page(buffer)
  return M.is_review(buffer) or file_of(buffer):match('^chat%-%x+%-[%w_-]+%.md$') ~= nil
end

function M.is_chat(buffer) return M.is_page(buffer) and vim.bo[buffer].filetype == 'markdown' end

return M
