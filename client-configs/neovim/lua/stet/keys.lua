-- The keys: which there are, and how they are set in the buffers that Stet serves.
local config = require('stet.config')
local M = {}

-- Free in the default maps of Neovim, LazyVim, AstroNvim and Doom.
M.prefix, M.classic_prefix = '<leader>k', '<leader>'

-- Each action with its modes, its key behind the prefix (or the whole key), and its description.
M.list = {
  { name = 'ask', modes = { 'n', 'x' }, key = 'a', desc = 'ask or instruct' },
  { name = 'rewrite', modes = { 'x' }, key = 'r', desc = 'rewrite the selection' },
  { name = 'explain', modes = { 'n', 'x' }, key = 'e', desc = 'ask without edits' },
  { name = 'comment', modes = { 'n' }, key = 'i', desc = 'run comment instruction' },
  { name = 'accept', modes = { 'n' }, key = 'y', desc = 'accept the hunk' },
  { name = 'reject', modes = { 'n' }, key = 'n', desc = 'reject the hunk' },
  { name = 'accept_all', modes = { 'n' }, key = 'Y', desc = 'accept all in this file' },
  { name = 'reject_all', modes = { 'n' }, key = 'N', desc = 'reject all in this file' },
  { name = 'resolve', modes = { 'n' }, key = 'c', desc = 'resolve the conflict' },
  { name = 'undo', modes = { 'n' }, key = 'u', desc = 'undo the accepted hunk' },
  { name = 'restore', modes = { 'n' }, key = 'b', desc = 'restore the rejected or replaced hunk' },
  { name = 'review', modes = { 'n' }, key = 'd', desc = 'review the file as one diff' },
  { name = 'list', modes = { 'n' }, key = 'l', desc = 'list pending hunks' },
  { name = 'chat', modes = { 'n' }, key = 't', desc = 'open the chat' },
  { name = 'new_chat', modes = { 'n' }, key = 'T', desc = 'new chat' },
  { name = 'chats', modes = { 'n' }, key = 'o', desc = 'open one of all chats' },
  { name = 'send', modes = { 'n' }, key = 's', desc = 'send what is written in the chat' },
  { name = 'agent', modes = { 'n' }, key = 'A', desc = 'choose who answers, its mode and its model' },
  { name = 'context', modes = { 'n', 'x' }, key = 'v', desc = 'show what a question would send' },
  { name = 'attach', modes = { 'n' }, key = '+', desc = 'attach this file' },
  { name = 'detach', modes = { 'n' }, key = '-', desc = 'detach this file' },
  { name = 'send_selection', modes = { 'n', 'x' }, key = 'g', desc = 'send the selection to Claude' },
  { name = 'search', modes = { 'n' }, key = 'f', desc = 'search by description' },
  { name = 'answer', modes = { 'n' }, key = 'q', desc = 'answer the question' },
  { name = 'toggle', modes = { 'n' }, key = 'h', desc = 'show hunks inline, compact or not' },
  { name = 'next', modes = { 'n' }, lhs = ']v', classic = ']h', desc = 'next hunk' },
  { name = 'previous', modes = { 'n' }, lhs = '[v', classic = '[h', desc = 'previous hunk' },
  { name = 'cancel', modes = { 'n' }, key = 'x', desc = 'cancel' },
}

-- Return the prefix, the key of an action (nil if the user wants none), and whether the user chose it.
function M.lhs(action)
  local given = config.read()
  local is_classic = given.keys == 'classic'
  local prefix = given.prefix or (is_classic and M.classic_prefix or M.prefix)
  local chosen = nil
  if not is_classic then chosen = (given.keys or {})[action.name] end
  if chosen ~= nil then return prefix, chosen or nil, true end
  if action.lhs then return prefix, is_classic and action.classic or action.lhs, is_classic end
  return prefix, prefix .. action.key, is_classic
end

local function raw(lhs) return vim.api.nvim_replace_termcodes(lhs, true, true, true) end

-- Return the key of an action as the user types it, or the command if there is no key.
function M.shown(name)
  for _, action in ipairs(M.list) do
    local _, lhs = M.lhs(action)
    if action.name == name and lhs and not M.taken()[name] then return vim.fn.keytrans(raw(lhs)) end
  end
  return ':Stet ' .. name
end

-- The keys that were not set, because something else has them: by action, what has them.
local taken, is_reported = {}, false
function M.taken() return taken end

-- Return the mapping of somebody else that a key would take away or delay, if there is one.
local function other(buffer, mode, action)
  local prefix, lhs, is_chosen = M.lhs(action)
  local wanted, start = raw(lhs), #raw(prefix)
  local maps = vim.list_extend(vim.api.nvim_buf_get_keymap(buffer, mode), vim.api.nvim_get_keymap(mode))
  for _, map in ipairs(maps) do
    local found = map.lhsraw or raw(map.lhs)
    local is_begun = not is_chosen and #found >= start and vim.startswith(wanted, found)
    local is_longer = not is_chosen and vim.startswith(found, wanted)
    local does_nothing = (map.rhs or '') == '' and not map.callback
    if (found == wanted or is_begun or is_longer) and not does_nothing then return map end
  end
end

local function act_of(action)
  return function()
    if require('stet.server').client() then return require('stet.actions')[action.name]({}) end
    vim.lsp.enable('stet')
    vim.notify('Stet was not running here; it is being started, then press the key again')
  end
end

local function is_ours(map) return vim.startswith(map.desc or '', 'Stet: ') end

-- Name the prefix in the menu of which-key.nvim, if that is loaded.
local function name_prefix(buffer)
  local which_key, prefix = package.loaded['which-key'], M.lhs(M.list[1])
  local has_names = type(which_key) == 'table' and which_key.add and prefix ~= M.classic_prefix
  if has_names then which_key.add({ { prefix, group = 'Stet', mode = { 'n', 'x' }, buffer = buffer } }) end
end

-- Set the keys in a buffer, for the first time or anew; one that something else has is left alone.
function M.set(buffer)
  for _, mode in ipairs({ 'n', 'x' }) do
    for _, map in ipairs(vim.tbl_filter(is_ours, vim.api.nvim_buf_get_keymap(buffer, mode))) do
      vim.keymap.del(mode, map.lhs, { buffer = buffer })
    end
  end
  for _, action in ipairs(M.list) do
    local _, lhs = M.lhs(action)
    for _, mode in ipairs(lhs and action.modes or {}) do
      local map = other(buffer, mode, action)
      if map then
        taken[action.name] = { lhs = lhs, by = map.desc or map.rhs or 'a function' }
      else
        vim.keymap.set(mode, lhs, act_of(action), { buffer = buffer, desc = 'Stet: ' .. action.desc })
      end
    end
  end
  name_prefix(buffer)
end

-- Report once which keys were not set.
function M.report()
  if is_reported or next(taken) == nil then return end
  is_reported = true
  local names = {}
  for name, key in vim.spairs(taken) do table.insert(names, ('%s (%s)'):format(key.lhs, name)) end
  local words = 'these keys are yours already, so Stet has not mapped them: %s. See :help stet-keys-taken'
  require('stet.messages').warn(words:format(table.concat(names, ', ')))
end

return M
