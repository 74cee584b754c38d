-- Inline completions, in Neovim 0.12 and newer: shown while the user types, accepted by a key.
local M = {}

local method = 'textDocument/inlineCompletion'
local enabled_mark = '_lsp_enabled_inline_completion' -- Neovim's own variable of a buffer
-- Of the maps of insert mode only Neovim's own is taken over: it has what the key does otherwise.
local own_map = '^vim%.snippet%.jump'

-- Return what this Neovim can do besides what it says: it takes a registration at any time.
function M.capabilities()
  return vim.lsp.inline_completion and { inlineCompletion = { dynamicRegistration = true } } or nil
end

-- Return the key that accepts a completion, or nil if the user wants none.
function M.key()
  local keys = require('stet.config').read().keys
  local chosen = type(keys) == 'table' and keys.complete
  if chosen == nil or type(keys) ~= 'table' then return '<Tab>' end
  return chosen or nil
end

local function is_ours(map) return map.desc == 'Stet: accept the completion' end

-- Return a completion without what the user has typed of it since it came: Neovim 0.12 would insert
-- that again. Nil where something else was typed.
local function without_typed(item)
  if not item.range or type(item.insert_text) ~= 'string' then return item end
  local start_row, start_col, end_row, end_col = item.range:to_extmark()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  if row - 1 ~= end_row or col < end_col then return nil end
  if col == end_col then return item end
  local typed = vim.api.nvim_buf_get_text(0, start_row, start_col, end_row, col, {})[1]
  if not vim.startswith(item.insert_text, typed) then return nil end
  item.insert_text, item.range = item.insert_text:sub(#typed + 1), nil -- it is pasted at the cursor
  return item
end

-- Accept the completion that is shown; without one the key does what it did before.
local function accept(lhs, before)
  return function()
    if vim.lsp.inline_completion.get({ on_accept = without_typed }) then return '' end
    return before and before.callback and before.callback() or lhs
  end
end

local function set_key(buffer)
  local lhs = M.key()
  if not lhs then return end
  local before = vim.api.nvim_buf_call(buffer, function() return vim.fn.maparg(lhs, 'i', false, true) end)
  if is_ours(before) then return end
  if next(before) ~= nil and not (before.desc or ''):find(own_map) then
    require('stet.keys').taken().complete = { lhs = lhs, by = before.desc or before.rhs or 'a function' }
    return vim.schedule(require('stet.keys').report)
  end
  local options = { buffer = buffer, expr = true, desc = 'Stet: accept the completion' }
  vim.keymap.set('i', lhs, accept(lhs, before), options)
end

-- Show completions in a buffer, if the server offers any.
function M.attach(stet, buffer)
  if not (vim.lsp.inline_completion and stet:supports_method(method, buffer)) then return end
  vim.lsp.inline_completion.enable(true, { client_id = stet.id, bufnr = buffer })
  set_key(buffer)
end

-- Show no more completions in a buffer, and give the key back.
local function detach(stet, buffer)
  -- Neovim 0.12 ends a client's completions only where the buffer has them enabled, too. Enabling them
  -- there for all clients would show those of other servers.
  local before = vim.b[buffer][enabled_mark]
  vim.b[buffer][enabled_mark] = true
  vim.lsp.inline_completion.enable(false, { client_id = stet.id, bufnr = buffer })
  vim.b[buffer][enabled_mark] = before
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(buffer, 'i')) do
    if is_ours(map) then vim.keymap.del('i', map.lhs, { buffer = buffer }) end
  end
end

-- Handle the end of a registration: Neovim 0.12 would go on asking in the buffers that are open.
function M.unregister(err, params, context)
  local stet = vim.lsp.get_client_by_id(context.client_id)
  local is_ended = vim.iter(params.unregisterations):any(function(one) return one.method == method end)
  for _, buffer in ipairs(stet and is_ended and vim.tbl_keys(stet.attached_buffers) or {}) do
    detach(stet, buffer)
  end
  return vim.lsp.handlers['client/unregisterCapability'](err, params, context)
end

-- Handle a registration of the server: completions are registered when the user turns them on.
function M.register(err, params, context)
  local answer = vim.lsp.handlers['client/registerCapability'](err, params, context)
  local stet = vim.lsp.get_client_by_id(context.client_id)
  local is_new = vim.iter(params.registrations):any(function(one) return one.method == method end)
  for _, buffer in ipairs(stet and is_new and vim.tbl_keys(stet.attached_buffers) or {}) do
    M.attach(stet, buffer)
  end
  return answer
end

return M
