-- Who answers: the agent, and what it offers, such as its mode and its model.
local pages, server = require('stet.pages'), require('stet.server')
local M = {}

-- What the buffer is: a chat is chosen for itself.
local function here() return pages.is_chat(0) and { uri = vim.uri_from_bufnr(0) } or vim.empty_dict() end

local function choose(place, choice) server.run('stet.chooseAgent', vim.tbl_extend('force', place, choice)) end

local function named(option)
  for _, value in ipairs(option.values) do
    if value.value == option.current then return value.name end
  end
  return '?'
end

-- Choose the value of an option of an agent.
local function choose_value(place, agent, option)
  local options = {
    prompt = ('Stet: %s, %s'):format(agent.name, option.name),
    format_item = function(value) return value.name .. (value.value == option.current and ' (now)' or '') end,
  }
  vim.ui.select(option.values, options, function(value)
    if value then choose(place, { agent = agent.name, option = option.id, value = value.value }) end
  end)
end

-- Choose the agent that answers, or an option of the one that does.
function M.choose()
  local place, items = here(), {}
  server.run('stet.agents', place, function(agents)
    for _, agent in ipairs(agents) do
      local title = agent.title .. (agent.current and ' (answers now)' or '')
      table.insert(items, { title = title, run = function() choose(place, { agent = agent.name }) end })
    end
    for _, agent in ipairs(agents) do
      for _, option in ipairs(agent.current and agent.options or {}) do
        local title = ('%s: %s …'):format(option.name, named(option))
        table.insert(items, { title = title, run = function() choose_value(place, agent, option) end })
      end
    end
    local options = { prompt = 'Stet: who answers', format_item = function(item) return item.title end }
    vim.ui.select(items, options, function(item)
      if item then item.run() end
    end)
  end)
end

return M
