-- The page of a review: which hunk is under the cursor, what has become of each, and how many are left.
local pages, server = require('stet.pages'), require('stet.server')
local M = {}

local namespace = vim.api.nvim_create_namespace('stet.review_page')
local head = '^@@ .- @@ (%S+)'

-- Return the id of the hunk whose section the cursor is in, and whether it was a conflict.
function M.hunk_here()
  for line = vim.fn.line('.'), 1, -1 do
    local text = vim.fn.getline(line)
    local id = text:match(head)
    if id then return id, text:find('(conflict)', 1, true) ~= nil end
    if vim.startswith(text, 'diff --git ') then return end
  end
end

local function draw(buffer, states)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  local left, lines = 0, vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for n, line in ipairs(lines) do
    local state = states[line:match(head) or '']
    if state == 'pending' or state == 'conflict' then
      left = left + 1
    elseif state then
      local note = { { ' ' .. state .. ' ', state == 'accepted' and 'DiffAdd' or 'DiffDelete' } }
      vim.api.nvim_buf_set_extmark(buffer, namespace, n - 1, 0, { virt_text = note })
    end
  end
  local title = (lines[1] or ''):match('^# Stet review %w+: ')
  if not title then return end
  local count = ('%s%d hunk%s left '):format(title, left, left == 1 and '' or 's')
  local keys = require('stet.keys')
  local words = '# %s accepts, %s rejects the hunk under the cursor; %s goes to the next.'
  local shown = words:format(keys.shown('accept'), keys.shown('reject'), keys.shown('next'))
  vim.api.nvim_buf_set_extmark(buffer, namespace, 0, 0, {
    virt_text = { { count, 'Title' } },
    virt_text_pos = 'overlay',
    virt_lines = { { { shown, 'Comment' } } },
  })
end

-- Draw what has become of the hunks in all pages that are shown.
function M.update()
  for _, buffer in ipairs(vim.tbl_filter(pages.is_review, vim.api.nvim_list_bufs())) do
    local stet = vim.lsp.get_clients({ name = 'stet', bufnr = buffer })[1]
    if stet and vim.api.nvim_buf_is_loaded(buffer) then
      stet:request('workspace/executeCommand', { command = 'stet.proposals', arguments = {} }, function(err, hunks)
        if err or not vim.api.nvim_buf_is_loaded(buffer) then return end
        local states = {}
        for _, hunk in ipairs(hunks) do states[hunk.hunk] = hunk.state end
        draw(buffer, states)
      end, buffer)
    end
  end
end

-- Go to the next or the previous hunk of the page.
function M.go(forward)
  if vim.fn.search('^@@ ', forward and 'w' or 'bw') == 0 then vim.notify('Stet: the page has no hunk') end
  return true
end

return M
