-- The server: how it is started, started again after a crash, and sent commands.
local config, messages, pages = require('stet.config'), require('stet.messages'), require('stet.pages')
local status = require('stet.status')
local M = {}

-- The root of the last buffer that Stet served: pages and chats belong to the server that wrote them.
M.last_root = nil

function M.clients() return vim.lsp.get_clients({ name = 'stet' }) end
function M.client() return vim.lsp.get_clients({ name = 'stet', bufnr = 0 })[1] end

-- Send a command; `on_answer` gets the result, and an error is shown, after which `on_error` is called.
function M.run(name, argument, on_answer, on_error)
  messages.release()
  local stet = M.client() or M.clients()[1] -- the user may have gone elsewhere
  if not stet then return vim.notify('Stet is not running') end
  stet:exec_cmd({ title = name, command = name, arguments = { argument } }, nil, function(err, answer)
    if err then
      messages.refuse(err)
      return on_error and on_error()
    end
    if on_answer then on_answer(answer) end
  end)
end

-- The project: the nearest folder with a `.git`.
local function root_dir(buffer, on_dir)
  on_dir(pages.is_page(buffer) and M.last_root or vim.fs.root(buffer, '.git'))
end

-- A server that crashes is started again, but not all the time: its hunks are kept on the disk and
-- find their places in the text, saved or not.
local crashes = {}
-- A buffer that changes while it has no client is never followed again by Neovim 0.11, and the next
-- server would see none of its changes: this client does nothing but be there.
local function stand_in(dispatchers)
  local closed = false
  local function yes() return true, 1 end
  local function stop() closed = dispatchers.on_exit(0, 0) or true end
  return { request = yes, notify = yes, is_closing = function() return closed end, terminate = stop }
end
local function on_exit(code, signal, id)
  vim.schedule(function() status.note_work(id) end)
  if code == 0 and (signal == 0 or signal == 15) then return end -- somebody ended it
  local buffers = vim.tbl_keys(vim.lsp.get_client_by_id(id).attached_buffers)
  vim.schedule(function()
    for _, buffer in ipairs(vim.tbl_filter(vim.api.nvim_buf_is_loaded, buffers)) do
      vim.lsp.start({ name = 'stet-stand-in', cmd = stand_in }, { bufnr = buffer })
    end
  end)
  table.insert(crashes, vim.uv.now())
  if #crashes > 3 and crashes[#crashes] - crashes[#crashes - 3] < 60000 then return end
  vim.defer_fn(function()
    vim.lsp.enable('stet')
    messages.show('Stet ended unexpectedly and was started again; your proposals come back')
  end, 500)
end

-- Return the configuration for `vim.lsp.config`.
function M.configuration()
  return {
    cmd = config.cmd(),
    root_dir = root_dir, -- and no `filetypes`: Stet serves every file, beside its own server
    settings = config.settings(),
    capabilities = {
      experimental = { stet = { drawsHunks = true } },
      textDocument = require('stet.completion').capabilities(),
    },
    handlers = {
      ['client/registerCapability'] = function(...) return require('stet.completion').register(...) end,
      ['client/unregisterCapability'] = function(...) return require('stet.completion').unregister(...) end,
      ['window/showMessage'] = function(...) return require('stet.hints').show_message(...) end,
      ['window/showMessageRequest'] = messages.show_question,
      ['window/showDocument'] = function(...) return require('stet.chat_window').show_document(...) end,
      ['workspace/executeCommand'] = messages.refuse, -- of what was chosen in the menu, or of a lens
    },
    on_exit = on_exit,
  }
end

-- Neovim itself says nothing where the program is missing.
function M.report_missing()
  local program = vim.lsp.config.stet.cmd[1]
  local words = 'there is no program `%s`. Install Stet, or put its path into `cmd` of `vim.g.stet`.'
  if vim.fn.executable(program) == 0 then messages.warn(words:format(program)) end
end

return M
