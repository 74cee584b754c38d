-- Stet for Neovim 0.11 or newer. Put this file into ~/.config/nvim/plugin/, and `stet` on the PATH.
-- Keys are mapped in buffers that Stet serves, and listed below; the README beside it says more.

if vim.fn.has('nvim-0.11') == 0 then return vim.notify('Stet: stet.lua needs Neovim 0.11 or newer', 3) end

-- One line at the bottom. Redrawn, because messages that come together would ask you for Enter.
local function show(text, highlight)
  if vim.fn.mode() == 'c' then return end
  vim.cmd.redraw()
  local line = vim.fn.printf('%.' .. vim.v.echospace .. 'S', (text:gsub('%s+', ' ')))
  vim.api.nvim_echo({ { line, highlight } }, false, {})
  vim.cmd.redraw()
end


local answer_key = vim.fn.keytrans(vim.g.mapleader or '\\') .. 'q'
-- Into `:messages`, whole, without a stop for Enter.
local function keep(text)
  local more, options = vim.o.more, vim.o.messagesopt
  vim.o.more, vim.o.messagesopt = false, options:gsub('hit%-enter', 'wait:0')
  vim.api.nvim_echo({ { text } }, true, {})
  vim.cmd.redraw()
  vim.o.more, vim.o.messagesopt = more, options
end

-- The project: the nearest folder with a `.git`. Pages and chats belong to the server that wrote them.
local last_root
local function is_page(buffer)
  local file = vim.api.nvim_buf_get_name(buffer):match('[/\\]stet[/\\]([^/\\]+)$') or ''
  return file:match('^review%-[%x-]+%.diff$') ~= nil or file:match('^chat%-%x+%-[%w_-]+%.md$') ~= nil
end
local function root_dir(buffer, on_dir)
  on_dir(is_page(buffer) and last_root or vim.fs.root(buffer, '.git'))
end

-- What is too long for the line is also shown at the cursor, until you move on; a chat holds it anyway.
local function show_message(_, message)
  local text, highlights = message.message, { 'ErrorMsg', 'WarningMsg' }
  text = text:gsub('\nAnswer with the command `stet%.answer`.*', '\n(answer: ' .. answer_key .. ')')
  keep(text)
  show(text, highlights[message.type])
  local is_long = text:find('\n') or vim.fn.strdisplaywidth(text) > vim.v.echospace
  if is_long and vim.fn.mode() == 'n' and not is_page(0) then
    local options = { max_width = 88, border = 'rounded' }
    local lines = vim.split(text, '\n', { trimempty = true })
    local _, window = vim.lsp.util.open_floating_preview(lines, 'markdown', options)
    vim.wo[window].linebreak = true
    local height = math.min(vim.api.nvim_win_text_height(window, {}).all, vim.o.lines - 6)
    vim.api.nvim_win_set_height(window, height)
  end
end

-- A question stops nothing you do: it is told, and waits until you answer it.
local function show_question(_, question)
  local text = question.message:gsub('\n%(Or in your own words.*', '')
  show_message(nil, { message = text .. '\n(answer: ' .. answer_key .. ')' })
  return vim.NIL
end

local function refuse(err)
  if err then show_message(nil, { type = 2, message = 'Stet: ' .. err.message }) end
end

-- What runs and what waits in all your files: for the status line and the list.
local work, waiting = {}, {}
local names = { proposal = 'hunk', conflict = 'conflict', question = 'question' }
local function clients() return vim.lsp.get_clients({ name = 'stet' }) end
local function note_work(client, token, text) -- without a token all that the client does is over
  work = vim.tbl_filter(function(one) return one.client ~= client or (token and one.token ~= token) end, work)
  if text then table.insert(work, { client = client, token = token, text = text }) end
  vim.cmd.redrawstatus()
end

-- Put `%{v:lua.stet_status()}` into your 'statusline'. Empty where Stet does not run.
function _G.stet_status()
  if #clients() == 0 then return '' end
  local parts = vim.tbl_map(function(one) return vim.fn.printf('%.50S', one.text) end, work)
  for code, name in vim.spairs(names) do
    local n = #vim.tbl_filter(function(found) return found.code == code end, waiting)
    if n > 0 then table.insert(parts, n .. ' ' .. name .. (n > 1 and 's' or '')) end
  end
  return 'Stet' .. (#parts > 0 and ': ' .. table.concat(parts, ', ') or '')
end

-- The quickfix list of what waits; it is kept up to date while it is the current one.
local list_title = 'Stet: what waits for you'
local function open_list(title, items)
  if #items == 0 then return vim.notify('Stet: nothing found') end
  vim.fn.setqflist({}, ' ', { title = title, items = items })
  vim.cmd('botright copen')
end
local function what_waits()
  local items = vim.diagnostic.toqflist(waiting)
  for _, item in ipairs(items) do item.text = item.text:match('[^\n]*') end
  return items
end
local function look_again()
  waiting = {}
  for _, stet in ipairs(clients()) do
    local namespace = vim.lsp.diagnostic.get_namespace(stet.id)
    vim.list_extend(waiting, vim.diagnostic.get(nil, { namespace = namespace }))
  end
  waiting = vim.tbl_filter(function(found) return names[found.code] end, waiting)
  if vim.fn.getqflist({ title = 0 }).title == list_title then
    vim.fn.setqflist({}, 'u', { title = list_title, items = what_waits() })
  end
  vim.cmd.redrawstatus()
end

-- A server that dies is started again, as long as it doesn't do that all the time: its proposals are
-- kept on the disk and find their places in your text, saved or not.
local deaths = {}
-- A buffer that changes while it has no client is never followed again by Neovim 0.11, and the next
-- server would see none of your changes: this client does nothing but be there.
local function stand_in(dispatchers)
  local closed = false
  local function yes() return true, 1 end
  local function stop() closed = dispatchers.on_exit(0, 0) or true end
  return { request = yes, notify = yes, is_closing = function() return closed end, terminate = stop }
end
local function on_exit(code, signal, id)
  vim.schedule(function() note_work(id) end)
  if code == 0 and (signal == 0 or signal == 15) then return end -- somebody ended it
  local buffers = vim.tbl_keys(vim.lsp.get_client_by_id(id).attached_buffers)
  vim.schedule(function()
    for _, buffer in ipairs(vim.tbl_filter(vim.api.nvim_buf_is_loaded, buffers)) do
      vim.lsp.start({ name = 'stet-stand-in', cmd = stand_in }, { bufnr = buffer })
    end
  end)
  table.insert(deaths, vim.uv.now())
  if #deaths > 3 and deaths[#deaths] - deaths[#deaths - 3] < 60000 then return end
  vim.defer_fn(function()
    vim.lsp.enable('stet')
    show('Stet ended unexpectedly and was started again; your proposals come back')
  end, 500)
end

vim.lsp.config('stet', {
  cmd = { 'stet', 'serve' },
  root_dir = root_dir, -- and no `filetypes`: Stet serves every file, beside its own server
  settings = { stet = {} }, -- for example { stet = { model = { provider = 'ollama' } } }
  handlers = {
    ['window/showMessage'] = show_message,
    ['window/showMessageRequest'] = show_question,
    ['workspace/executeCommand'] = refuse, -- of what was chosen in the menu, or of a lens
  },
  on_exit = on_exit,
})
vim.lsp.enable('stet')
-- Neovim itself says nothing where the program is missing.
vim.api.nvim_create_autocmd('FileType', { once = true, callback = vim.schedule_wrap(function()
  local program = vim.lsp.config.stet.cmd[1]
  local words = 'Stet: there is no program `%s`. Install Stet, or write its path into `cmd` in stet.lua.'
  if vim.fn.executable(program) == 0 then show_message(nil, { type = 2, message = words:format(program) }) end
end) })

local function client() return vim.lsp.get_clients({ name = 'stet', bufnr = 0 })[1] end
local function uri() return vim.uri_from_bufnr(0) end
-- `on_answer` gets what comes back; a refusal is shown.
local function run(name, argument, on_answer)
  local stet = client() or clients()[1] -- you may have gone elsewhere
  if not stet then return vim.notify('Stet is not running') end
  stet:exec_cmd({ title = name, command = name, arguments = { argument } }, nil, function(err, answer)
    if err then return refuse(err) end
    if on_answer then on_answer(answer) end
  end)
end

local function read(prompt, use)
  vim.ui.input({ prompt = prompt }, function(text)
    if vim.fn.mode():match('^[vV\22]') then vim.cmd.normal({ '\27', bang = true }) end
    if (text or '') ~= '' then use(text) end
  end)
end

-- The selection, or else the cursor: two LSP positions, and whether the cursor is at the first.
local function selection()
  local other, cursor, visual = vim.fn.getpos('v'), vim.fn.getpos('.'), vim.fn.mode():match('^[vV\22]')
  local function position(at, past)
    local text, encoding = vim.fn.getline(at[2]), client().offset_encoding
    local units = vim.str_utfindex(text, encoding, math.max(at[3] - 1 + past, 0), false)
    return { line = at[2] - 1, character = units }
  end
  if not visual then return position(cursor, 0), position(cursor, 0), true end
  local lines = vim.fn.getregionpos(other, cursor, { type = visual })
  local backwards = cursor[2] < other[2] or (cursor[2] == other[2] and cursor[3] < other[3])
  return position(lines[1][1], 0), position(lines[#lines][2], 1), backwards
end

local function ask(mode)
  local first, last = selection()
  local question = { mode = mode, uri = uri(), range = { start = first, ['end'] = last } }
  read('Stet: ', function(prompt) run('stet.ask', vim.tbl_extend('error', question, { prompt = prompt })) end)
end

-- Exactly what a question would send, beside your text; nothing is sent.
local function show_context()
  local first, last = selection()
  local question = { prompt = '(your question)', uri = uri(), range = { start = first, ['end'] = last } }
  if is_page(0) then question.uri, question.range = nil, nil end
  run('stet.showContext', question, function(context)
    local text = { ('About %d tokens would be sent, with your question:'):format(context.tokens) }
    for _, section in ipairs(context.sections) do
      table.insert(text, ('\n# %s (%d tokens)\n\n%s'):format(section.name, section.tokens, section.text))
    end
    vim.cmd('botright vnew')
    vim.bo.buftype, vim.bo.bufhidden, vim.wo.linebreak = 'nofile', 'wipe', true
    vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(table.concat(text, '\n'), '\n'))
  end)
end

-- What acts on the hunk under the cursor: a hunk is a diagnostic that carries its id.
local function at_hunk(act)
  return function()
    local namespace = vim.lsp.diagnostic.get_namespace(client().id)
    local here = vim.diagnostic.get(0, { namespace = namespace, lnum = vim.fn.line('.') - 1 })
    local hunk = vim.tbl_get(here, #here, 'user_data', 'lsp', 'data', 'hunk')
    if not hunk then return vim.notify('Stet: no hunk on this line; ]h goes to the next') end
    act(hunk, here[#here])
  end
end
local function accept(hunk) run('stet.accept', { hunk = hunk }) end
local function reject(hunk)
  local function with(reason) return reason and run('stet.reject', { hunk = hunk, reason = reason }) end
  vim.ui.input({ prompt = 'Reject, because: ' }, with)
end
local function resolve(hunk, diagnostic)
  if diagnostic.code ~= 'conflict' then return vim.notify('Stet: this hunk is no conflict') end
  local ways = {
    mine = 'Keep my text, drop the proposal',
    theirs = 'Take the proposal, drop my text',
    markers = 'Put both in, between markers',
    retry = 'Have it done again for my text',
  }
  local options = { prompt = 'You changed these lines, too:', format_item = function(how) return ways[how] end }
  local function with(how) return how and run('stet.resolve', { hunk = hunk, how = how }) end
  vim.ui.select({ 'mine', 'theirs', 'markers', 'retry' }, options, with)
end

-- Decided hunks have no diagnostic, so the server says which were at this line.
local function go_back(command, states, nothing)
  local line = vim.fn.line('.') - 1
  run('stet.proposals', { uri = uri() }, function(hunks)
    local here = vim.tbl_filter(function(hunk)
      local first, last = hunk.range.start.line, hunk.range['end']
      local past = math.max(last.character > 0 and last.line + 1 or last.line, first + 1)
      return states[hunk.state] and first <= line and line < past
    end, hunks)
    if #here == 0 then return vim.notify('Stet: ' .. nothing) end
    local function with(hunk) return hunk and run(command, { hunk = hunk.hunk }) end
    if #here == 1 then return with(here[1]) end
    local function title(hunk) return hunk.hunk .. ' (' .. hunk.state .. '): ' .. hunk.summary end
    vim.ui.select(here, { prompt = 'Stet: which of these', format_item = title }, with)
  end)
end

local function undo() go_back('stet.undo', { accepted = true }, 'no accepted hunk on this line') end
local function restore() go_back('stet.restore', { rejected = true, undone = true }, 'no rejected hunk here') end
-- What you write under the last `## You` of a chat, and where you write on.
local function send()
  run('stet.send', is_page(0) and { uri = uri() } or nil, function()
    vim.defer_fn(function()
      if is_page(0) and vim.fn.mode() == 'n' then vim.cmd.normal({ 'G', bang = true }) end
    end, 300)
  end)
end

-- What a turn waits for: choose an answer, or give it in your own words.
local function answer_of(question)
  local function reply(text) run('stet.answer', { question = question.id, text = text }) end
  local function in_words() read(question.text .. ' ', reply) end
  local choices, own = vim.list_slice(question.choices), 'In your own words'
  if #choices == 0 then return in_words() end
  if question.kind == 'ask' then table.insert(choices, own) end
  vim.ui.select(choices, { prompt = question.text }, function(choice)
    if choice then (choice == own and in_words or reply)(choice) end
  end)
end
local function answer()
  local shown = vim.b.lsp_floating_preview -- the question, as it was told
  if shown and vim.api.nvim_win_is_valid(shown) then vim.api.nvim_win_close(shown, true) end
  run('stet.status', nil, function(status)
    local function look(n)
      if not status.turns[n] then return vim.notify('Stet: nothing waits for your answer') end
      run('stet.turn', { turn = status.turns[n] }, function(turn)
        if turn.question then answer_of(turn.question) else look(n + 1) end
      end)
    end
    look(1)
  end)
end

-- What you attach comes with all you ask, until you take it off.
local function attach(how)
  run('stet.context', { [how] = uri() }, function(now)
    vim.notify('Stet: attached: ' .. (#now.files > 0 and table.concat(now.files, ', ') or 'no file'))
  end)
end

local function search(query)
  local function item(found)
    local text = found.title ~= '' and found.title or found.excerpt:match('[^\n]+')
    return { filename = vim.uri_to_fname(found.uri), lnum = found.range.start.line + 1, text = text }
  end
  run('stet.search', { query = query }, function(found) open_list(query, vim.tbl_map(item, found)) end)
end

local function here() return { uri = uri(), line = vim.fn.line('.') } end
local function go(command) -- to a hunk, in any file
  run(command, here(), function(found) return found or vim.notify('Stet: nothing to review') end)
end

local keys = {
  { { 'n', 'x' }, '<leader>a', 'ask', function() ask('agent') end },
  { 'x', '<leader>r', 'rewrite the selection', function() ask('rewrite') end },
  { { 'n', 'x' }, '<leader>e', 'ask without edits', function() ask('ask') end },
  { 'n', '<leader>i', 'do what the comment here says', function() run('stet.carryOut', here()) end },
  { 'n', '<leader>y', 'accept the hunk', at_hunk(accept) },
  { 'n', '<leader>n', 'reject the hunk', at_hunk(reject) },
  { 'n', '<leader>Y', 'accept all in this file', function() run('stet.accept', { uri = uri() }) end },
  { 'n', '<leader>N', 'reject all in this file', function() run('stet.reject', { uri = uri() }) end },
  { 'n', '<leader>c', 'a way out of the conflict', at_hunk(resolve) },
  { 'n', '<leader>u', 'take the accepted hunk back', undo },
  { 'n', '<leader>b', 'bring the rejected hunk back', restore },
  { 'n', '<leader>d', 'review the file as a diff', function() run('stet.review', { uri = uri() }) end },
  { 'n', '<leader>l', 'list what waits', function() open_list(list_title, what_waits()) end },
  { 'n', '<leader>t', 'open the chat', function() run('stet.openChat') end },
  { 'n', '<leader>T', 'begin a new chat', function() run('stet.newChat') end },
  { 'n', '<leader>s', 'send what you wrote in the chat', send },
  { { 'n', 'x' }, '<leader>v', 'view what a question would send', show_context },
  { 'n', '<leader>+', 'attach this file', function() attach('add') end },
  { 'n', '<leader>-', 'take this file off', function() attach('remove') end },
  { 'n', '<leader>f', 'find in your own words', function() read('Stet, find: ', search) end },
  { 'n', '<leader>q', 'answer what is asked', answer },
  { 'n', ']h', 'next hunk', function() go('stet.next') end },
  { 'n', '[h', 'previous hunk', function() go('stet.previous') end },
  { 'n', '<leader>x', 'cancel', function() run('stet.cancel') end },
}

local group, timer = vim.api.nvim_create_augroup('stet', {}), assert(vim.uv.new_timer())
local function on(events, callback) -- called only where Stet is
  vim.api.nvim_create_autocmd(events, { group = group, callback = function(event)
    local id = event.data and event.data.client_id
    local stet = id and vim.lsp.get_client_by_id(id) or client()
    if stet and stet.name == 'stet' then callback(stet, event) end
  end })
end

local function is_chat(buffer) return is_page(buffer) and vim.bo[buffer].filetype == 'markdown' end
on('LspAttach', function(stet, event)
  for _, key in ipairs(keys) do
    local function act()
      if client() then return key[4]() end
      vim.lsp.enable('stet')
      vim.notify('Stet was not running here; it is being started, then press the key again')
    end
    vim.keymap.set(key[1], key[2], act, { buffer = event.buf, desc = 'Stet: ' .. key[3] })
  end
  -- The diff under the hunk at the cursor; the diagnostics of others stay as you have them.
  local lines = { current_line = true, format = function(hunk) return hunk.message end }
  local look = { virtual_lines = lines, virtual_text = false, underline = false }
  vim.diagnostic.config(look, vim.lsp.diagnostic.get_namespace(stet.id))
  if not is_chat(event.buf) then return end
  vim.wo[0][0].linebreak, vim.wo[0][0].conceallevel = true, 2
  vim.treesitter.start(event.buf, 'markdown')
end)

-- A chat is written by Stet, which keeps it: leaving it never asks you to save.
vim.api.nvim_create_autocmd('QuitPre', { group = group, callback = function()
  for _, buffer in ipairs(vim.tbl_filter(is_chat, vim.api.nvim_list_bufs())) do
    vim.api.nvim_buf_call(buffer, function() vim.cmd('silent! noautocmd update') end)
  end
end })

on({ 'LspAttach', 'BufEnter' }, function(stet) last_root = stet.root_dir end)
-- Where you are, a tenth of a second after the last movement.
local function tell_selection()
  if not client() then return end
  local first, last, backwards = selection()
  local function at(line) return { line = line, character = 0 } end
  client():notify('$/stet/didChangeSelection', {
    textDocument = { uri = uri() },
    selections = { { anchor = backwards and last or first, active = backwards and first or last } },
    visibleRange = { start = at(vim.fn.line('w0') - 1), ['end'] = at(vim.fn.line('w$')) },
  })
end
on({ 'LspAttach', 'BufEnter', 'CursorMoved', 'CursorMovedI', 'ModeChanged', 'WinScrolled' }, function()
  timer:start(100, 0, vim.schedule_wrap(tell_selection))
end)

vim.api.nvim_create_autocmd({ 'LspAttach', 'DiagnosticChanged' }, { group = group, callback = look_again })
on('LspProgress', function(stet, event)
  local value, token = event.data.params.value, event.data.params.token
  local doing = (value.message or '') .. ' · ' .. value.title:gsub('^Stet: ', '')
  note_work(stet.id, token, value.kind ~= 'end' and doing or nil)
  show(value.title .. ' · ' .. (value.message or ''))
end)
