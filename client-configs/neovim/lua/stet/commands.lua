-- The command `:Stet ACTION [TEXT]`.
local M = {}

local function names() return vim.tbl_map(function(action) return action.name end, require('stet.keys').list) end

local function complete(typed, line)
  if not line:match('Stet!?%s+%S*$') then return {} end
  return vim.tbl_filter(function(name) return vim.startswith(name, typed) end, names())
end

local function run(command)
  local name, text = command.args:match('^(%S+)%s*(.*)$')
  if not vim.list_contains(names(), name) then return vim.notify('Stet: no action `' .. name .. '`; see :help :Stet', 3) end
  local lines = command.range > 0 and { command.line1, command.line2 } or nil
  require('stet.actions')[name]({ text = text, lines = lines })
end

function M.create()
  local options = { nargs = '+', range = true, complete = complete, desc = 'Stet: run an action' }
  vim.api.nvim_create_user_command('Stet', run, options)
end

return M
