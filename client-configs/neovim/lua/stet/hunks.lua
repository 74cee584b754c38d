-- How hunks are drawn.
local M = {}

-- Show the diff under the hunk at the cursor; the diagnostics of others stay as the user has them.
function M.attach(client, _)
  local lines = { current_line = true, format = function(hunk) return hunk.message end }
  local look = { virtual_lines = lines, virtual_text = false, underline = false }
  vim.diagnostic.config(look, vim.lsp.diagnostic.get_namespace(client.id))
end

return M
