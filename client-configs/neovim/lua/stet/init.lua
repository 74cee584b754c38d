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
  local page = require('stet.review_page')
  local server, status = require('stet.server'), require('stet.status')

  -- Put `%{v:lua.stet_status()}` into your 'statusline'.
  function _G.stet_status() return status.line() end

  on('LspAttach', function(stet, event)
    keys.set(event.buf)
    vim.schedule(keys.report)
    hunks.attach(stet, event.buf)
    require('stet.chat_window').attach(event.buf)
    require('stet.completion').attach(stet, event.buf)
  end)
  on('LspAttach', require('stet.hints').name_ask_key)
  on({ 'LspAttach', 'BufEnter' }, function(stet) server.last_root = stet.root_dir end)
  on({ 'LspAttach', 'BufEnter', 'CursorMoved', 'CursorMovedI', 'ModeChanged', 'WinScrolled' }, selection.changed)
  on('LspProgress', function(stet, event)
    local value, token = event.data.params.value, event.data.params.token
    local doing = (value.message or '') .. ' · ' .. value.title:gsub('^Stet: ', '')
    status.note_work(stet.id, token, value.kind ~= 'end' and doing or nil)
    messages.show_progress('Stet: ' .. doing)
  end)
  vim.api.nvim_create_autocmd({ 'LspAttach', 'DiagnosticChanged' }, { group = group, callback = function()
    status.update()
    page.update()
  end })
  -- lazy.nvim loads keys of the user that late.
  vim.api.nvim_create_autocmd('User', { group = group, pattern = 'VeryLazy', callback = vim.schedule_wrap(function()
    for _, stet in ipairs(server.clients()) do vim.tbl_map(keys.set, vim.tbl_keys(stet.attached_buffers)) end
    keys.report()
  end) })
  vim.api.nvim_create_autocmd('QuitPre', { group = group, callback = chat.save_all })
  local report = vim.schedule_wrap(function()
    server.report_missing()
    local _, problems = require('stet.config').read()
    if #problems > 0 then messages.warn(table.concat(problems, '; ') .. '. See :help stet-config') end
  end)
  vim.api.nvim_create_autocmd('FileType', { group = group, once = true, callback = report })
  require('stet.commands').create()
  vim.lsp.enable('stet')
end

return M
