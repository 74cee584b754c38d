-- The hunks of each buffer: where they are, how they look, which one is current. The server's
-- diagnostics say which hunks there are; `stet.proposals` says how they look.

local drawing = require('stet.hunk_drawing')
local colours = require('stet.hunk_colours')
local messages = require('stet.messages')

local M = {}
M.modes = { 'inline', 'compact', 'off' }
local QUIET = 30 -- milliseconds without a change until the server is asked
local MANY = 200 -- the changes that are remembered until diagnostics of the changed text come
local CODES = { proposal = true, conflict = true }
local DRAWN = { pending = true, conflict = true }
local states, mode = {}, nil -- by buffer
local jumping, after_jump = false, {}
local arriving -- the hunk of a jump into a file whose hunks are not known yet

local function is_valid(state) return states[state.buffer] == state and vim.api.nvim_buf_is_loaded(state.buffer) end

local function place(state, hunk, first, last)
  local end_of_buffer = vim.api.nvim_buf_line_count(state.buffer) - 1
  first = math.min(first, end_of_buffer)
  local options = { id = hunk.mark, end_row = math.min(math.max(last, first), end_of_buffer), end_col = 0 }
  options.strict, options.undo_restore = false, false
  hunk.mark = vim.api.nvim_buf_set_extmark(state.buffer, drawing.places, first, 0, options)
  state.ids[hunk.mark] = hunk.id
end

local function remove(state, hunk)
  drawing.remove(state, hunk)
  state.hunks[hunk.id], state.ids[hunk.mark] = nil, nil
end

-- The lines at which an entry of `stet.proposals` is shown: an addition at the line before which it goes.
local function lines_of(entry)
  local first, last = entry.range.start.line, entry.range['end'].line
  return first, math.max(last - (entry.range['end'].character == 0 and 1 or 0), first)
end

-- Columns count bytes here; a server may have been told other units.
local function to_bytes(entry, encoding)
  for _, line in ipairs(encoding ~= 'utf-8' and entry.display.lines or {}) do
    for _, stretches in ipairs({ line.spans or {}, line.excerpt or {} }) do
      for _, stretch in ipairs(stretches) do
        stretch[1] = vim.str_byteindex(line.text, encoding, stretch[1], false)
        stretch[2] = vim.str_byteindex(line.text, encoding, stretch[2], false)
      end
    end
  end
end

local fit, arrive -- below

local function take(state, entries)
  for _, entry in ipairs(entries) do
    local hunk = state.hunks[entry.hunk]
    if hunk and entry.display and DRAWN[entry.state] then
      local first, last = lines_of(entry)
      local had, old = hunk.entry, (drawing.place(state, hunk))
      local is_same = had and had.hash == entry.hash and had.state == entry.state and old == first
      if not is_same or state.touched_hunks[hunk.id] then
        drawing.erase(state, hunk)
        to_bytes(entry, state.client.offset_encoding)
        hunk.entry = entry
      end
      hunk.state, hunk.order, hunk.is_decided = entry.state, entry.range.start.line, nil
      place(state, hunk, first, last)
    end
  end
  state.touched_hunks = {}
  drawing.draw_buffer(state)
  if M.are_in_view() then messages.uncover() end
  arrive(state)
  if state.fit then fit(state) end
end

local refresh
local function refresh_soon(state)
  state.due = true
  state.timer:start(QUIET, 0, vim.schedule_wrap(function() refresh(state) end))
end

function refresh(state)
  if not is_valid(state) or state.asking then return end
  state.due, state.asking = false, true
  local buffer, tick = state.buffer, vim.api.nvim_buf_get_changedtick(state.buffer)
  local argument = { uri = vim.uri_from_bufnr(buffer), display = true }
  local sent = state.client:request('workspace/executeCommand', {
    command = 'stet.proposals',
    arguments = { argument },
  }, function(_, entries)
    state.asking = false
    if not is_valid(state) then return end
    if vim.api.nvim_buf_get_changedtick(buffer) ~= tick then return refresh_soon(state) end
    if entries then take(state, entries) end
    if state.due then refresh_soon(state) end
  end, buffer)
  if not sent then state.asking = false end
end

-- The hunks on lines that have changed: the server may have merged the change into them.
local function note_touched(state)
  if not state.touched then return false end
  local first, last = math.max(state.touched[1] - 1, 0), state.touched[2] + 1
  local found = vim.api.nvim_buf_get_extmarks(
    state.buffer, drawing.places, { first, 0 }, { last, -1 }, { overlap = true }
  )
  for _, mark in ipairs(found) do
    local id = state.ids[mark[1]]
    if id then state.touched_hunks[id] = true end
  end
  state.touched = nil
  return #found > 0
end

-- Forget the changes up to a version of the text, which is a changedtick; return those since then.
local function changes_since(state, version)
  while state.changes[1] and state.changes[1].tick <= version do table.remove(state.changes, 1) end
  return state.changes
end

-- The present row of a row in the text before some changes.
local function row_after(changes, row)
  for _, change in ipairs(changes) do
    if change.last <= row then
      row = row + change.new_last - change.last
    elseif change.first <= row then
      row = math.max(math.min(row, change.new_last - 1), change.first)
    end
  end
  return row
end

-- Compare the diagnostics, as the server sent them, with what is known; ask only if they differ. The
-- user may have typed since the text that the diagnostics are for.
local function look(state, diagnostics)
  local is_stale, seen = note_touched(state), {}
  local rows = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(state.buffer, drawing.places, 0, -1, {})) do
    rows[mark[1]] = mark[2]
  end
  for _, diagnostic in ipairs(diagnostics) do
    local id = CODES[diagnostic.code] and diagnostic.data and diagnostic.data.hunk
    if id then
      local hunk, changes = state.hunks[id], changes_since(state, diagnostic.data.version or math.huge)
      local row = row_after(changes, diagnostic.range.start.line)
      seen[id] = true
      if not hunk then
        hunk = { id = id, order = row }
        state.hunks[id] = hunk
      end
      if rows[hunk.mark] ~= row then
        place(state, hunk, row, row_after(changes, diagnostic.range['end'].line))
        state.touched_hunks[id] = true -- as the drawing is where the mark was
        is_stale = true
      end
      local is_conflict = diagnostic.code == 'conflict'
      is_stale = is_stale or not hunk.entry or hunk.is_decided or is_conflict ~= (hunk.state == 'conflict')
    end
  end
  for id, hunk in pairs(state.hunks) do
    if not seen[id] then remove(state, hunk) end
  end
  if is_stale then refresh_soon(state) end
end

-- In the order in which they stand in the text, without those just decided.
local function in_order(state)
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(state.buffer, drawing.places, 0, -1, {})) do
    local hunk = state.hunks[state.ids[mark[1]]]
    if hunk and not hunk.is_decided then table.insert(found, { row = mark[2], hunk = hunk }) end
  end
  table.sort(found, function(a, b)
    if a.row ~= b.row then return a.row < b.row end
    return a.hunk.order < b.hunk.order
  end)
  return found
end

--- Return whether a hunk of the current window is in view, whether or not it is drawn.
function M.are_in_view()
  local state = states[vim.api.nvim_get_current_buf()]
  if not state then return false end
  local first, last = { vim.fn.line('w0') - 1, 0 }, { vim.fn.line('w$') - 1, -1 }
  return #vim.api.nvim_buf_get_extmarks(state.buffer, drawing.places, first, last, { overlap = true, limit = 1 }) > 0
end

local function cursor_row() return vim.api.nvim_win_get_cursor(0)[1] - 1 end

-- The hunk of the last jump, as long as the cursor stays where that put it.
local function jumped_to(state)
  local hunk = state.current and state.hunks[state.current]
  if not hunk or hunk.is_decided then return nil end
  local row = cursor_row()
  return row == (drawing.place(state, hunk)) and hunk or nil
end

--- Return the id of the hunk at the cursor and whether it is a conflict, or nil.
function M.current()
  local state = states[vim.api.nvim_get_current_buf()]
  if not state then return nil end
  local hunk, row = jumped_to(state), cursor_row()
  if not hunk then
    local range = { { row, 0 }, { row, -1 } }
    local found = vim.api.nvim_buf_get_extmarks(state.buffer, drawing.places, range[1], range[2], { overlap = true })
    for _, mark in ipairs(found) do
      local one = state.hunks[state.ids[mark[1]]]
      if one and not one.is_decided then hunk = hunk or one end
    end
  end
  if hunk then return hunk.id, hunk.state == 'conflict' end
end

--- Call `act` with what `current` returns; after the jump, if one is still under way.
function M.with_current(act)
  if jumping then return table.insert(after_jump, act) end
  act(M.current())
end

--- Note that the user has decided on a hunk, so that the next jump goes past it; or, with `false`,
--- that the decision was refused.
function M.decided(id, is_decided)
  for _, state in pairs(states) do
    local hunk = state.hunks[id]
    if hunk then hunk.is_decided = is_decided ~= false or nil end
  end
end

-- The keys for what to do next with a hunk.
local function keys_of(hunk)
  local shown = require('stet.keys').shown
  if hunk.state == 'conflict' then return (' · %s resolve'):format(shown('resolve')) end
  return (' · %s accept, %s reject'):format(shown('accept'), shown('reject'))
end

-- Scroll until the current hunk is seen whole, or else its beginning; tell how much is below.
function fit(state)
  local hunk = state.hunks[state.fit]
  if not hunk or vim.api.nvim_get_current_buf() ~= state.buffer or not jumped_to(state) then
    state.fit = nil
    return
  end
  if not hunk.entry then return end -- once the server has answered
  state.fit = nil
  drawing.draw_window(state, vim.api.nvim_get_current_win(), false)
  local window = vim.api.nvim_get_current_win()
  local first, last = drawing.place(state, hunk)
  local below, above = 0, 0
  for _, block in ipairs(hunk.blocks or {}) do
    if block.above then above = above + #block.rows else below = below + #block.rows end
    last = math.max(last, block.row)
  end
  local function height(from, to)
    local all = vim.api.nvim_win_text_height(window, { start_row = from, end_row = to })
    return all.all - all.fill
  end
  local room, needed = vim.api.nvim_win_get_height(window), height(first, last) + below + above
  local hidden = math.max(needed - room, 0)
  local view = vim.fn.winsaveview()
  local top = view.topline - 1
  local fits = top <= first and (above == 0 or view.topfill >= above)
    and vim.api.nvim_win_text_height(window, { start_row = top, end_row = last }).all + view.topfill + below <= room
  if not fits then
    local spare, new_top = math.floor((room - needed) / 2), first
    if hidden > 0 then spare = math.min(vim.wo.scrolloff, math.floor((room - 1) / 2)) end
    while new_top > 0 and spare > 0 do
      spare = spare - height(new_top - 1, new_top - 1)
      if spare >= 0 then new_top = new_top - 1 end
    end
    if hidden > 0 then hidden = hidden + (first - new_top) end
    local fill = new_top == 0 and math.min(above, math.max(room - 2, 0)) or 0
    vim.fn.winrestview({ topline = new_top + 1, topfill = fill })
    drawing.draw_window(state, window, false)
  end
  local order = in_order(state)
  for n, one in ipairs(order) do
    if one.hunk == hunk then
      local text = ('Hunk %d/%d: %s'):format(n, #order, hunk.entry.summary or '')
      if hidden > 0 then text = ('%s (%d more lines below)'):format(text, hidden) end
      messages.show_place(text .. keys_of(hunk))
    end
  end
end

local function go_to(state, hunk)
  local row = drawing.place(state, hunk)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  vim.cmd('normal! ^zv')
  state.current, state.fit = hunk.id, hunk.id
  fit(state)
end

-- End a jump into this file, if the user is still where it led.
function arrive(state)
  local hunk = arriving and state.hunks[arriving]
  if not hunk or vim.api.nvim_get_current_buf() ~= state.buffer then return end
  arriving = nil
  if math.abs(cursor_row() - drawing.place(state, hunk)) <= 1 then go_to(state, hunk) end
end

local function has_others(state)
  local namespace = vim.lsp.diagnostic.get_namespace(state.client.id)
  return vim.iter(vim.diagnostic.get(nil, { namespace = namespace })):any(function(found)
    return found.bufnr ~= state.buffer and CODES[found.code] or false
  end)
end

local function ask_server(client, command)
  local argument = { uri = vim.uri_from_bufnr(0), line = cursor_row() + 1 }
  jumping = true
  local request = { command = command, arguments = { argument } }
  local function done(found)
    jumping = false
    local buffer = found and vim.uri_to_bufnr(found.uri)
    local state = buffer and states[buffer]
    arriving = found and found.hunk
    if state then arrive(state) end
    local waiting = after_jump
    after_jump = {}
    if not found then messages.show('Stet: no pending hunks') end
    for _, act in ipairs(waiting) do
      if state and state.hunks[found.hunk] then act(M.current()) else act(found and found.hunk, false) end
    end
  end
  local sent = client:request('workspace/executeCommand', request, function(_, found)
    vim.schedule(function() done(found ~= vim.NIL and found or nil) end)
  end, 0)
  if not sent then done(nil) end
end

local function jump(step, command)
  local buffer = vim.api.nvim_get_current_buf()
  local state = states[buffer]
  if not state then
    local client = vim.lsp.get_clients({ name = 'stet' })[1]
    return client and ask_server(client, command) or messages.show('Stet is not running')
  end
  local order, current, row = in_order(state), jumped_to(state), cursor_row()
  local last = state.hunks[state.current]
  -- Another hunk may be where one was decided just now.
  if last and last.is_decided and drawing.place(state, last) == row then row = row - step end
  local target
  for n, one in ipairs(order) do
    if current and one.hunk == current then
      target = order[n + step]
      break
    elseif not current and step > 0 and one.row > row then
      target = one
      break
    elseif not current and step < 0 and one.row < row then
      target = one
    end
  end
  if not target and #order > 0 and not has_others(state) then target = step > 0 and order[1] or order[#order] end
  if target then return go_to(state, target.hunk) end
  ask_server(state.client, command)
end

--- Go to the next hunk: of this buffer at once, else of another file.
function M.next() jump(1, 'stet.next') end

--- Go to the previous hunk.
function M.previous() jump(-1, 'stet.previous') end

--- Change how hunks are drawn: `inline`, `compact`, `off`.
function M.set_mode(name)
  mode = name
  for _, state in pairs(states) do
    drawing.erase_all(state)
    state.mode = mode
    drawing.draw_buffer(state)
  end
end

--- Draw hunks in the next of the three ways.
function M.toggle()
  for n, name in ipairs(M.modes) do
    if name == mode then
      M.set_mode(M.modes[n % #M.modes + 1])
      return messages.show('Hunks: ' .. mode)
    end
  end
end

local group = vim.api.nvim_create_augroup('stet.hunks', {})
local is_watching = false
local function watch()
  if is_watching then return end
  is_watching = true
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  local function redraw_all()
    for _, state in pairs(states) do
      drawing.erase_all(state)
      drawing.draw_buffer(state)
    end
  end
  colours.define()
  on({ 'ColorScheme', 'UIEnter' }, colours.define)
  on('LspDetach', function(event)
    local state = states[event.buf]
    if state and state.client.id == event.data.client_id then M.detach(event.buf) end
  end)
  on('WinScrolled', function()
    for window, moved in pairs(vim.v.event) do
      local id = tonumber(window)
      local state = id and vim.api.nvim_win_is_valid(id) and states[vim.api.nvim_win_get_buf(id)]
      if state then drawing.draw_window(state, id, moved.topline < 0) end
    end
  end)
  on('BufEnter', vim.schedule_wrap(function()
    local state = states[vim.api.nvim_get_current_buf()]
    if state then arrive(state) end
  end))
  on({ 'BufWinEnter', 'WinResized' }, function()
    for _, state in pairs(states) do drawing.draw_buffer(state) end
  end)
  local options = { 'list', 'listchars', 'tabstop', 'wrap', 'linebreak' }
  vim.api.nvim_create_autocmd('OptionSet', { group = group, pattern = options, callback = redraw_all })
  local looks = { group = group, pattern = { 'background', 'termguicolors' }, callback = colours.define }
  vim.api.nvim_create_autocmd('OptionSet', looks)
  drawing.watch_windows(function(buffer) return states[buffer] end, function(buffer)
    vim.schedule(function()
      if states[buffer] then drawing.draw_buffer(states[buffer]) end
    end)
  end)
end

-- Not by the event `DiagnosticChanged`, which copies a thousand diagnostics for each listener.
local function follow(client)
  local method = 'textDocument/publishDiagnostics'
  local handle = client.handlers[method] or vim.lsp.handlers[method]
  client.handlers[method] = function(problem, published, context)
    handle(problem, published, context)
    local state = published and states[vim.uri_to_bufnr(published.uri)]
    if state and state.client == client then look(state, published.diagnostics) end
  end
end

local followed = setmetatable({}, { __mode = 'k' })

--- Draw the hunks of a buffer from now on.
function M.attach(client, buffer)
  watch()
  -- What is no hunk keeps its line below the text: questions, dead links.
  local function text_of_other(other) return not CODES[other.code] and messages.with_keys(other.message) or nil end
  local lines = { current_line = true, format = text_of_other }
  local look_of_others = { virtual_lines = lines, virtual_text = false, underline = false, signs = false }
  vim.diagnostic.config(look_of_others, vim.lsp.diagnostic.get_namespace(client.id))
  if not followed[client] then follow(client) end
  followed[client] = true
  mode = mode or require('stet.config').read().hunks or M.modes[1]
  if states[buffer] then M.detach(buffer) end
  local state = { buffer = buffer, client = client, mode = mode }
  state.hunks, state.ids, state.touched_hunks, state.changes = {}, {}, {}, {}
  state.timer = assert(vim.uv.new_timer())
  states[buffer] = state
  local function on_lines(_, _, tick, first, last, new_last)
    if states[buffer] ~= state then return true end
    table.insert(state.changes, { tick = tick, first = first, last = last, new_last = new_last })
    if #state.changes > MANY then table.remove(state.changes, 1) end
    local touched = state.touched or { first, last }
    state.touched = { math.min(touched[1], first), math.max(touched[2] + new_last - last, new_last) }
    if state.due then refresh_soon(state) end
  end
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = on_lines,
    on_reload = function()
      if states[buffer] ~= state then return end
      state.changes = {}
      refresh_soon(state)
    end,
    on_detach = function() return states[buffer] == state and M.detach(buffer) end,
  })
  local namespace = vim.lsp.diagnostic.get_namespace(client.id)
  look(state, vim.tbl_map(function(diagnostic)
    return vim.tbl_get(diagnostic, 'user_data', 'lsp') or {}
  end, vim.diagnostic.get(buffer, { namespace = namespace })))
end

--- Draw them no more.
function M.detach(buffer)
  local state = states[buffer]
  if not state then return end
  states[buffer] = nil
  state.timer:stop()
  state.timer:close()
  if not vim.api.nvim_buf_is_valid(buffer) then return end
  for _, hunk in pairs(state.hunks) do drawing.remove(state, hunk) end
end

return M
