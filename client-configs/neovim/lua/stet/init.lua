-- The start: the server is enabled, and what follows the editor's events is registered.
local M = {}

local group = vim.api.nvim_create_augroup('stet', {})

-- Call `callback` with the client on events where Stet is.
local function on(events, callback)
  vim.api.nvim_create_autocmd(events, { group = group, callback = function(event)
    local id = event.data and event.data.client_id
    local stet = id and vim.lsp.get_client_by_id(id) or require('stet.server').client()
    if stet and stet.name == 'stet' then callback(stet, event) end
  end })
end

function M.start()
  local chat, hunks, keys = require('stet.chat'), require('stet.hunks'), require('stet.keys')
  local messages, selection = require('stet.messages'), require('stet.selection')
  local server, status = require('stet.server'), require('stet.status')

  -- Put `%{v:lua.stet_status()}` into your 'statusline'.
  function _G.stet_status() return status.line() end

  on('LspAttach', function(stet, event)
    keys.set(event.buf)
    hunks.attach(stet, event.buf)
    chat.attach(event.buf)
  end)
  on({ 'LspAttach', 'BufEnter' }, function(stet) server.last_root = stet.root_dir end)
  on({ 'LspAttach', 'BufEnter', 'CursorMoved', 'CursorMovedI', 'ModeChanged', 'WinScrolled' }, selection.changed)
  on('LspProgress', function(stet, event)
    local value, token = event.data.params.value, event.data.params.token
    local doing = (value.message or '') .. ' · ' .. value.title:gsub('^Stet: ', '')
    status.note_work(stet.id, token, value.kind ~= 'end' and doing or nil)
    messages.show(value.title .. ' · ' .. (value.message or ''))
  end)
  vim.api.nvim_create_autocmd({ 'LspAttach', 'DiagnosticChanged' }, { group = group, callback = status.update })
  vim.api.nvim_create_autocmd('QuitPre', { group = group, callback = chat.save_all })
  local report = vim.schedule_wrap(server.report_missing)
  vim.api.nvim_create_autocmd('FileType', { group = group, once = true, callback = report })
  require('stet.commands').create()
  vim.lsp.enable('stet')
end

return M
