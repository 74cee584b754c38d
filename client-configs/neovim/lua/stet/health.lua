-- `:checkhealth stet`.
local M = {}
local health = vim.health

local function check_program()
  local program = vim.lsp.config.stet.cmd[1]
  if vim.fn.executable(program) == 0 then
    return health.error('there is no program `' .. program .. '`', { 'Install Stet, or set `cmd` of `vim.g.stet`.' })
  end
  local ran = vim.system({ program, '--version' }, { text = true, timeout = 10000 }):wait()
  local version = vim.trim(ran.stdout or '')
  if ran.code ~= 0 then return health.error(('`%s --version` failed: %s'):format(program, ran.stderr or ran.code)) end
  health.ok(('%s (%s)'):format(version, vim.fn.exepath(program)))
end

local function check_server()
  local clients = require('stet.server').clients()
  if #clients == 0 then return health.warn('no server is running', { 'Open a file in a project.' }) end
  for _, client in ipairs(clients) do
    local n = vim.tbl_count(client.attached_buffers)
    health.ok(('the server of %s serves %d buffer%s'):format(client.root_dir or 'no project', n, n == 1 and '' or 's'))
  end
end

local function check_configuration()
  local _, problems = require('stet.config').read()
  if #problems == 0 then return health.ok('vim.g.stet is valid') end
  for _, problem in ipairs(problems) do health.error(problem) end
end

local function check_keys()
  local keys = require('stet.keys')
  if next(keys.taken()) == nil then return health.ok('all keys are mapped in the buffers that Stet serves') end
  for name, key in vim.spairs(keys.taken()) do
    local advice = { ("Set `keys = { %s = '…' }` or another `prefix` in `vim.g.stet`."):format(name) }
    health.warn(('%s was yours already (%s), so `%s` has no key'):format(key.lhs, key.by, name), advice)
  end
end

function M.check()
  health.start('Stet')
  check_program()
  check_configuration()
  check_server()
  check_keys()
end

return M
