-- The keys: which there are, and how they are set in the buffers that Stet serves.
local config = require('stet.config')
local M = {}

M.prefix, M.classic_prefix = '<leader>', '<leader>'

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
  { name = 'restore', modes = { 'n' }, key = 'b', desc = 'restore the rejected hunk' },
  { name = 'review', modes = { 'n' }, key = 'd', desc = 'review the file as one diff' },
  { name = 'list', modes = { 'n' }, key = 'l', desc = 'list pending hunks' },
  { name = 'chat', modes = { 'n' }, key = 't', desc = 'open the chat' },
  { name = 'new_chat', modes = { 'n' }, key = 'T', desc = 'new chat' },
  { name = 'send', modes = { 'n' }, key = 's', desc = 'send what is written in the chat' },
  { name = 'context', modes = { 'n', 'x' }, key = 'v', desc = 'show what a question would send' },
  { name = 'attach', modes = { 'n' }, key = '+', desc = 'attach this file' },
  { name = 'detach', modes = { 'n' }, key = '-', desc = 'detach this file' },
  { name = 'search', modes = { 'n' }, key = 'f', desc = 'search by description' },
  { name = 'answer', modes = { 'n' }, key = 'q', desc = 'answer the question' },
  { name = 'toggle', modes = { 'n' }, key = 'h', desc = 'show hunks inline, compact or not' },
  { name = 'next', modes = { 'n' }, lhs = ']h', classic = ']h', desc = 'next hunk' },
  { name = 'previous', modes = { 'n' }, lhs = '[h', classic = '[h', desc = 'previous hunk' },
  { name = 'cancel', modes = { 'n' }, key = 'x', desc = 'cancel' },
}

-- Return the key of an action, or nil if the user wants none.
function M.lhs(action)
  local given = config.read()
  local is_classic, own = given.keys == 'classic', nil
  if not is_classic then own = (given.keys or {})[action.name] end
  if own ~= nil then return own or nil end
  if action.lhs then return is_classic and action.classic or action.lhs end
  return (given.prefix or (is_classic and M.classic_prefix or M.prefix)) .. action.key
end

local function typed(lhs) return vim.api.nvim_replace_termcodes(lhs, true, true, true) end

-- Return the key of an action as the user types it, or the command if there is no key.
function M.shown(name)
  for _, action in ipairs(M.list) do
    local lhs = action.name == name and M.lhs(action)
    if lhs then return vim.fn.keytrans(typed((lhs:gsub('<[lL]eader>', function() return vim.g.mapleader or '\\' end)))) end
  end
  return ':Stet ' .. name
end

-- Set the keys in a buffer.
function M.set(buffer)
  for _, action in ipairs(M.list) do
    local lhs = M.lhs(action)
    local function act()
      if require('stet.server').client() then return require('stet.actions')[action.name]({}) end
      vim.lsp.enable('stet')
      vim.notify('Stet was not running here; it is being started, then press the key again')
    end
    if lhs then vim.keymap.set(action.modes, lhs, act, { buffer = buffer, desc = 'Stet: ' .. action.desc }) end
  end
end

return M
