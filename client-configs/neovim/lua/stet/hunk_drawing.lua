-- Draw hunks into their buffer: marked lines, virtual rows, signs. Only what is near a window is
-- drawn, so that a thousand hunks cost no more than those in view.
--
-- A state is one buffer's: `hunks` by id, each with its `mark` (the extmark of its place) and, once the
-- server has answered, with `entry`, its entry of `stet.proposals`.

local layout = require('stet.hunk_layout')
local syntax = require('stet.hunk_syntax')

local M = {}
M.places = vim.api.nvim_create_namespace('stet.hunk_places')
local drawn = vim.api.nvim_create_namespace('stet.hunks')
local MARGIN = 100 -- lines above and below a window that are drawn, too
local MAX_SIGNS = 1000 -- old lines of one hunk that are marked one by one
local SIGNS = { ['+'] = 'StetAddSign', ['-'] = 'StetDeleteSign', ['~'] = 'StetChangeSign', ['!'] = 'StetConflictSign' }

--- Return the width of the text and of the columns beside it, in cells, where a buffer is shown.
function M.room(buffer)
  local width, gutter
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    if not width or info.width - info.textoff < width then
      width, gutter = info.width - info.textoff, info.textoff
    end
  end
  return math.max(width or 80, 10), gutter or 0
end

local function list_characters(window)
  if not vim.wo[window].list then return nil end
  local found, value = {}, vim.wo[window].listchars
  for name, chars in (value ~= '' and value or vim.go.listchars):gmatch('(%w+):([^,]+)') do found[name] = chars end
  if found.tab then found.tab = vim.fn.split(found.tab, '\\zs') end
  return found
end

local function options_of(state)
  local buffer, window = state.buffer, vim.fn.win_findbuf(state.buffer)[1]
  local width, gutter = state.width, state.gutter
  local lead = gutter >= 2 and gutter or 2 -- without columns for signs the marks stand in the text
  return {
    width = width - (lead - gutter),
    gutter = lead,
    tabstop = vim.bo[buffer].tabstop,
    wrap = vim.wo[window].wrap,
    linebreak = vim.wo[window].linebreak,
    list = list_characters(window),
    is_empty = vim.api.nvim_buf_line_count(buffer) == 1 and vim.fn.getbufoneline(buffer, 1) == '',
  }
end

local function erase(state, hunk)
  for _, id in ipairs(hunk.marks or {}) do vim.api.nvim_buf_del_extmark(state.buffer, drawn, id) end
  hunk.marks, hunk.blocks = nil, nil
end
M.erase = erase

--- Forget a hunk: its drawing and its place.
function M.remove(state, hunk)
  erase(state, hunk)
  vim.api.nvim_buf_del_extmark(state.buffer, M.places, hunk.mark)
end

--- Return the first and the last line of a hunk's place, 0-based.
function M.place(state, hunk)
  local at = vim.api.nvim_buf_get_extmark_by_id(state.buffer, M.places, hunk.mark, { details = true })
  return at[1], math.max(at[1], at[3].end_row or at[1])
end

local function mark(state, hunk, row, column, options)
  if row >= vim.api.nvim_buf_line_count(state.buffer) then return end
  options.strict, options.undo_restore = false, false
  table.insert(hunk.marks, vim.api.nvim_buf_set_extmark(state.buffer, drawn, row, column, options))
end

local function counts_of(hunk, last)
  local added, removed, sign = layout.count(hunk.entry)
  local counts = vim.tbl_filter(function(text) return text end, {
    sign == '!' and { ' Conflict', 'StetConflictSign' },
    added > 0 and { (' +%d'):format(added), 'StetAddSign' },
    removed > 0 and { (' -%d'):format(removed), 'StetDeleteSign' },
    { ' ' .. last, 'StetNote' },
  })
  return counts, sign
end

local function draw_compact(state, hunk)
  local counts, sign = counts_of(hunk, vim.fn.strtrans(hunk.entry.summary or ''))
  local look = { virt_text = counts, sign_text = sign, sign_hl_group = SIGNS[sign], priority = 20 }
  mark(state, hunk, (M.place(state, hunk)), 0, look)
end

local function draw_old(state, hunk, old)
  local is_conflict = hunk.entry.state == 'conflict'
  local line = is_conflict and 'StetConflict' or 'StetDelete'
  local sign = is_conflict and '!' or '-'
  -- Not `line_hl_group`, which would hide the words. Below the colours of the syntax.
  local function lines(row, past)
    mark(state, hunk, row, 0, { end_row = past, end_col = 0, hl_group = line, hl_eol = true, priority = 90 })
  end
  for n, one in ipairs(old) do
    if n > MAX_SIGNS then return lines(one.row, old[#old].row + 1) end
    mark(state, hunk, one.row, 0, { sign_text = sign, sign_hl_group = SIGNS[sign], priority = 20 })
    if not one.excerpt then lines(one.row, one.row + 1) end
    for _, stretch in ipairs(one.excerpt or {}) do
      mark(state, hunk, one.row, stretch[1], { end_col = stretch[2], hl_group = line, priority = 90 })
    end
    for _, span in ipairs(is_conflict and {} or one.spans) do
      mark(state, hunk, one.row, span[1], { end_col = span[2], hl_group = 'StetDeleteWord', priority = 4200 })
    end
  end
end

local function draw(state, hunk)
  hunk.marks, hunk.blocks = {}, {}
  if state.mode == 'off' then return end
  if state.mode == 'compact' or #hunk.entry.display.lines == 0 then return draw_compact(state, hunk) end
  local options = options_of(state)
  options.syntax = syntax.colours(state.buffer, layout.new_lines(hunk.entry))
  local look = layout.layout(hunk.entry, options)
  draw_old(state, hunk, look.old)
  hunk.blocks = look.new
  for _, block in ipairs(look.new) do
    local virtual = { virt_lines = block.rows, virt_lines_above = block.above, virt_lines_leftcol = true }
    if not options.wrap then virtual.virt_lines_overflow = 'scroll' end
    mark(state, hunk, block.row, 0, virtual)
  end
  if hunk.entry.kind == 'remove' then
    local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(state.buffer), ':t')
    local note = { virt_text = { { ' Delete ' .. vim.fn.strtrans(name), 'StetNote' } } }
    note.virt_text_pos, note.hl_mode = 'right_align', 'combine'
    return mark(state, hunk, (M.place(state, hunk)), 0, note)
  end
  local added, removed = layout.count(hunk.entry)
  if added + removed > vim.api.nvim_win_get_height(vim.fn.win_findbuf(state.buffer)[1]) then
    local count = { virt_text = (counts_of(hunk, 'lines')), virt_text_pos = 'right_align', hl_mode = 'combine' }
    mark(state, hunk, (M.place(state, hunk)), 0, count)
  end
end

--- Show the rows above the first line: Neovim leaves them out until one scrolls to them.
local function show_top(state, window)
  local top = vim.fn.getwininfo(window)[1].topline
  if top > 1 then return end
  vim.api.nvim_win_call(window, function()
    if vim.fn.winsaveview().topfill > 0 then return end
    local rows = 0
    for _, hunk in pairs(state.hunks) do
      for _, block in ipairs(hunk.blocks or {}) do rows = rows + (block.above and #block.rows or 0) end
    end
    local most = vim.api.nvim_win_get_height(window) - 2 * vim.wo.scrolloff - 2
    if rows > 0 and most > 0 then vim.fn.winrestview({ topfill = math.min(rows, most) }) end
  end)
end

--- Draw the hunks near a window that are not drawn yet.
--- @param at_top boolean whether the window has just come to its first line
function M.draw_window(state, window, at_top)
  local width, gutter = M.room(state.buffer)
  if width ~= state.width or gutter ~= state.gutter then
    M.erase_all(state)
    state.width, state.gutter = width, gutter
  end
  local first = math.max(vim.fn.line('w0', window) - 1 - MARGIN, 0)
  local last = math.min(vim.fn.line('w$', window) - 1 + MARGIN, vim.api.nvim_buf_line_count(state.buffer) - 1)
  local places = vim.api.nvim_buf_get_extmarks(state.buffer, M.places, { first, 0 }, { last, -1 }, { overlap = true })
  for _, place in ipairs(places) do
    local hunk = state.hunks[state.ids[place[1]]]
    if hunk and hunk.entry and not hunk.marks then
      draw(state, hunk)
      for _, block in ipairs(hunk.blocks) do at_top = at_top or block.above end
    end
  end
  if at_top then show_top(state, window) end
end

--- Draw what is near the windows of a buffer.
function M.draw_buffer(state)
  for _, window in ipairs(vim.fn.win_findbuf(state.buffer)) do M.draw_window(state, window, false) end
end

function M.erase_all(state)
  for _, hunk in pairs(state.hunks) do erase(state, hunk) end
end

--- Show on each closed fold how many hunks are in it.
--- @param state_of function the state of a buffer, or nil
--- @param redraw function called for a buffer whose window has changed its width or columns
function M.watch_windows(state_of, redraw)
  local shown = {}
  local function on_win(_, _, buffer)
    local state = state_of(buffer)
    if not state or not next(state.hunks) then return false end
    shown[buffer] = true
    return state.mode ~= 'off'
  end
  local function on_line(_, window, buffer, row)
    local function end_of_fold() return vim.fn.foldclosed(row + 1) == row + 1 and vim.fn.foldclosedend(row + 1) or 0 end
    local is_current = window == vim.api.nvim_get_current_win()
    local last = is_current and end_of_fold() or vim.api.nvim_win_call(window, end_of_fold)
    if last == 0 then return end
    local within = vim.api.nvim_buf_get_extmarks(buffer, M.places, { row, 0 }, { last - 1, -1 }, {})
    if #within == 0 then return end
    local text = (' %d hunk%s '):format(#within, #within > 1 and 's' or '')
    local count = { ephemeral = true, virt_text = { { text, 'StetChangeSign' } }, virt_text_pos = 'right_align' }
    vim.api.nvim_buf_set_extmark(buffer, drawn, row, 0, count)
  end
  local function on_end()
    for buffer in pairs(shown) do
      local state = state_of(buffer)
      local width, gutter = M.room(buffer)
      if state and state.width and (width ~= state.width or gutter ~= state.gutter) then redraw(buffer) end
    end
    shown = {}
  end
  vim.api.nvim_set_decoration_provider(drawn, { on_win = on_win, on_line = on_line, on_end = on_end })
end

return M
