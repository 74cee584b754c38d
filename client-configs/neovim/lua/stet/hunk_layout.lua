-- What a hunk looks like, as plain data: which lines of the buffer are marked, and the virtual rows
-- between them. Nothing here reads or changes a buffer.
--
-- `display` is the list of lines of `stet.proposals`; rows are 0-based, columns are bytes, ends are
-- excluded.

local M = {}

M.max_rows = 200 -- new lines of one hunk that are drawn; the rest is counted
M.max_bytes = 4000 -- of one new line; the rest is cut off
local JOINT = ' … '
local CONFLICT = 'Conflict: you edited this text. Keep yours, take the proposal, keep both, or retry.'

--- Count the lines of a hunk and choose its sign.
--- @return integer added, integer removed, string sign `+`, `-`, `~`, or `!` for a conflict
function M.count(hunk)
  local added, removed = 0, 0
  for _, line in ipairs(hunk.display.lines) do
    if line.op == 'insert' then added = added + 1 end
    if line.op == 'delete' then removed = removed + 1 end
  end
  if hunk.state == 'conflict' then return added, removed, '!' end
  local is_change = added > 0 and removed > 0
  return added, removed, is_change and '~' or added > 0 and '+' or removed > 0 and '-' or '~'
end

--- Return a sentence of a line without the spaces behind it.
local function trimmed(line, stretch) return (line.text:sub(stretch[1] + 1, stretch[2]):gsub('%s+$', '')) end

--- Reduce a long line to its changed sentences.
--- @return string text, function at the place of a byte in the text, or nil where it is left out
local function excerpt(line)
  if not line.excerpt or #line.excerpt == 0 then
    return line.text, function(byte) return byte end
  end
  local parts, moved, length = {}, {}, 0
  local function add(part)
    table.insert(parts, part)
    length = length + #part
  end
  if line.excerpt[1][1] > 0 then add(JOINT:sub(2)) end
  for n, stretch in ipairs(line.excerpt) do
    if n > 1 then add(JOINT) end
    local part = trimmed(line, stretch)
    table.insert(moved, { stretch[1], stretch[1] + #part, length - stretch[1] })
    add(part)
  end
  if line.excerpt[#line.excerpt][2] < #line.text then add(JOINT:sub(1, -2)) end
  return table.concat(parts), function(byte)
    for _, one in ipairs(moved) do
      if one[1] <= byte and byte < one[2] then return byte + one[3] end
    end
  end
end

--- Give every byte of a text that is painted its highlight groups.
local function paint(length, stretches, at)
  local painted = {}
  for _, stretch in ipairs(stretches) do
    for byte = stretch[1], stretch[2] - 1 do
      local place = at(byte)
      if place and place < length then painted[place] = stretch[3] end
    end
  end
  return painted
end

--- Show a character as the buffer would: tabs at their stops, control characters escaped.
--- @return string text, integer width, string? group
local function shown(char, column, options)
  local list = options.list
  if char == '\t' then
    local width = options.tabstop - column % options.tabstop
    if not list then return (' '):rep(width), width end
    local first, middle, last = unpack(list.tab or { '^', 'I' })
    if not list.tab then return '^I', 2, 'Whitespace' end
    if width == 1 then return last or first, 1, 'Whitespace' end
    local n = width - 1 - (last and 1 or 0)
    return first .. middle:rep(n) .. (last or ''), width, 'Whitespace'
  end
  if list and char == '\194\160' and list.nbsp then return list.nbsp, 1, 'Whitespace' end
  if char:match('^[ -~]$') then return char, 1 end
  local text = vim.fn.strtrans(char)
  return text, vim.fn.strdisplaywidth(text)
end

--- Split a text into cells, each with its groups.
local function cells_of(line, syntax, base, word, options)
  local text, at = excerpt(line)
  if #text > M.max_bytes then
    text = text:sub(1, M.max_bytes + vim.str_utf_start(text, M.max_bytes + 1)) .. ' …'
  end
  local words = paint(#text, vim.tbl_map(function(s) return { s[1], s[2], word } end, line.spans or {}), at)
  local colours = paint(#text, syntax or {}, at)
  local cells, byte, column = {}, 0, 0
  local trailing = options.list and #text:match('^(.-)%s*$') or #text
  local chars = text:find('[^ -~]') and vim.fn.split(text, '\\zs') or vim.split(text, '')
  for _, char in ipairs(chars) do
    if char ~= '' then
      local seen, width, group = shown(char, column, options)
      if char == ' ' and options.list then
        local as = byte >= trailing and options.list.trail or options.list.space
        if as then seen, group = as, 'Whitespace' end
      end
      local groups = { base, group or colours[byte] or false, words[byte] or false }
      table.insert(cells, { seen, width, groups, char == ' ' or char == '\t' })
      byte, column = byte + #char, column + width
    end
  end
  return cells
end

local function same(a, b) return a[1] == b[1] and a[2] == b[2] and a[3] == b[3] end

--- Join cells with equal groups into the chunks of one virtual row, filled up to its width.
local function row_of(cells, first, last, lead, base, options)
  local row, at, used = { lead }, first, 0
  while at <= last do
    local groups, texts = cells[at][3], {}
    while at <= last and same(cells[at][3], groups) do
      table.insert(texts, cells[at][1])
      used, at = used + cells[at][2], at + 1
    end
    local named = vim.tbl_filter(function(group) return group end, groups)
    table.insert(row, { table.concat(texts), named })
  end
  if used < options.width then table.insert(row, { (' '):rep(options.width - used), base }) end
  return row
end

--- Find where the rows of a wrapped line end: the index of the last cell of each.
local function wrapped(cells, breaks, options)
  local ends, used, first, space = {}, 0, 1, nil
  local at = 1
  while at <= #cells do
    if used + cells[at][2] > options.width and at > first then
      local last = breaks and space and space >= first and space or at - 1
      table.insert(ends, last)
      at, first, used, space = last + 1, last + 1, 0, nil
    else
      used = used + cells[at][2]
      if cells[at][4] then space = at end
      at = at + 1
    end
  end
  table.insert(ends, #cells)
  return ends
end

local ADD = { line = 'StetAdd', word = 'StetAddWord', sign = 'StetAddSign', mark = '+' }
local NOTE = { line = 'StetNote', word = 'StetNote', sign = 'StetConflictSign', mark = '!' }
local REST = { line = 'StetNote', word = 'StetNote', sign = 'StetAddSign', mark = '+' }

--- Make the virtual rows of one line.
local function rows_of(line, syntax, groups, options)
  local cells = cells_of(line, syntax, groups.line, groups.word, options)
  local ends = options.wrap and wrapped(cells, options.linebreak or groups == NOTE, options) or { #cells }
  local rows, first = {}, 1
  for n, last in ipairs(ends) do
    local mark = n == 1 and groups.mark or ''
    local lead = { mark .. (' '):rep(options.gutter - #mark), groups.sign }
    table.insert(rows, row_of(cells, first, last, lead, groups.line, options))
    first = last + 1
  end
  return rows
end

--- Lay a hunk out.
--- @param hunk table one entry of `stet.proposals`, with its `display`
--- @param options table `width` and `gutter` in cells, `tabstop`, `wrap`, `linebreak`, `list` (nil, or
---   characters by the names of 'listchars'), `syntax` (the coloured stretches of each new line)
--- @return table `old`: the lines of the buffer to mark; `new`: blocks of virtual rows, each below
---   `row`, or above it
function M.layout(hunk, options)
  local old, new, n_rows, n_new, left = {}, {}, 0, 0, 0
  local is_conflict = hunk.state == 'conflict'
  local block, last
  local function push(line, syntax, groups)
    local row, above = math.max(line.line - 1, 0), line.line == 0 and not options.is_empty
    if not block or block.row ~= row then
      block = { row = row, above = above, rows = {} }
      table.insert(new, block)
    end
    last = block
    for _, one in ipairs(rows_of(line, syntax, groups, options)) do table.insert(block.rows, one) end
    n_rows = n_rows + 1
  end
  local noted = not is_conflict
  local function note(line)
    noted = true
    push({ line = line, text = CONFLICT }, nil, NOTE)
  end
  for _, line in ipairs(hunk.display.lines) do
    if line.op == 'delete' then
      block = nil
      local stretches = line.excerpt and #line.excerpt > 0 and vim.tbl_map(function(stretch)
        return { stretch[1], stretch[1] + #trimmed(line, stretch) }
      end, line.excerpt) or nil
      table.insert(old, { row = line.line, spans = line.spans or {}, excerpt = stretches })
    elseif line.op == 'insert' then
      n_new = n_new + 1
      if not noted then note(line.line) end
      if n_rows < M.max_rows then
        push(line, options.syntax and options.syntax[n_new], ADD)
      else
        left = left + 1
      end
    end
  end
  if not noted and #old > 0 then note(old[#old].row + 1) end
  if left > 0 then
    local rest = { line = last.above and 0 or last.row + 1, text = ('… %d more lines'):format(left) }
    push(rest, nil, REST)
  end
  return { old = old, new = new }
end

--- Return the new lines of a hunk that are laid out.
function M.new_lines(hunk)
  local lines = {}
  for _, line in ipairs(hunk.display.lines) do
    if line.op == 'insert' then table.insert(lines, line.text) end
    if #lines == M.max_rows then break end
  end
  return lines
end

return M
