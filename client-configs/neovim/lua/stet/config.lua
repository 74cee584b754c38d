-- What the user has set: `vim.g.stet = { prefix = …, keys = …, settings = …, cmd = … }`.
local M = {}

local types = { prefix = { 'string' }, keys = { 'table', 'string' }, settings = { 'table' }, hunks = { 'string' }, cmd = { 'table' } }

-- Return the user's table, without what is wrong in it, and a sentence for each thing that is.
function M.read()
  local given, problems = vim.g.stet or {}, {}
  if type(given) ~= 'table' then return {}, { 'vim.g.stet is not a table' } end
  local read = {}
  for name, value in vim.spairs(given) do
    if not types[name] then
      table.insert(problems, ('vim.g.stet has no option `%s`'):format(name))
    elseif not vim.list_contains(types[name], type(value)) then
      table.insert(problems, ('vim.g.stet.%s is not a %s'):format(name, types[name][1]))
    else
      read[name] = value
    end
  end
  if type(read.keys) == 'string' and read.keys ~= 'classic' then
    table.insert(problems, "vim.g.stet.keys is a table, or 'classic'")
    read.keys = nil
  end
  if read.hunks and not vim.list_contains(require('stet.hunks').modes, read.hunks) then
    table.insert(problems, "vim.g.stet.hunks is 'inline', 'compact' or 'off'")
    read.hunks = nil
  end
  return read, problems
end

-- Return the settings for the server.
function M.settings()
  local settings = M.read().settings or {}
  return { stet = settings.stet or settings }
end

-- Return the command that starts the server.
function M.cmd() return M.read().cmd or { require('stet.program'), 'serve' } end

return M
