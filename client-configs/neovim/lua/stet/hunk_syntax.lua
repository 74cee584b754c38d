-- Colour lines that are in no buffer as their language: by its parser, or else by its syntax file.

local M = {}
local MAX_PARSED, MAX_MATCHED = 20000, 6000 -- bytes that are coloured by a parser, by a syntax file

local function by_parser(language, lines)
  local text = table.concat(lines, '\n')
  local query = #text <= MAX_PARSED and vim.treesitter.query.get(language, 'highlights')
  if not query then return nil end
  local coloured = vim.tbl_map(function() return {} end, lines)
  local parsed, trees = pcall(function() return vim.treesitter.get_string_parser(text, language):parse() end)
  for _, tree in pairs(parsed and trees or {}) do
    for capture, node in query:iter_captures(tree:root(), text) do
      local group = query.captures[capture]
      local first, start, last, finish = node:range()
      if not group:match('^_') and group ~= 'spell' and group ~= 'nospell' then
        for row = first, math.min(last, #lines - 1) do
          local from, to = row == first and start or 0, row == last and finish or #lines[row + 1]
          table.insert(coloured[row + 1], { from, to, '@' .. group .. '.' .. language })
        end
      end
    end
  end
  return coloured
end

local scratch = {} -- a hidden buffer for each syntax
local function by_syntax_file(name, lines)
  local n_bytes = 0
  for _, line in ipairs(lines) do n_bytes = n_bytes + #line end
  if n_bytes > MAX_MATCHED then return nil end
  if not (scratch[name] and vim.api.nvim_buf_is_loaded(scratch[name])) then
    scratch[name] = vim.api.nvim_create_buf(false, true)
    vim.bo[scratch[name]].undolevels, vim.bo[scratch[name]].syntax = -1, name
  end
  vim.api.nvim_buf_set_lines(scratch[name], 0, -1, false, lines)
  vim.bo[scratch[name]].modified = false
  local coloured = {}
  vim.api.nvim_buf_call(scratch[name], function()
    for row, line in ipairs(lines) do
      local found, last = {}, nil
      for column = 1, #line do
        local id = vim.fn.synIDtrans(vim.fn.synID(row, column, 1))
        if last and last.id == id then
          last[2] = column
        else
          last = { column - 1, column, vim.fn.synIDattr(id, 'name'), id = id }
          if id ~= 0 then table.insert(found, last) end
        end
      end
      table.insert(coloured, found)
    end
  end)
  return coloured
end

--- Return the coloured stretches of each line, `{ start, end, group }` in bytes, or nil: without a
--- parser and a syntax file, or where there is too much text to be quick.
--- @param buffer integer the buffer whose language the lines have
function M.colours(buffer, lines)
  local language = vim.treesitter.language.get_lang(vim.bo[buffer].filetype)
  if language and vim.treesitter.language.add(language) then return by_parser(language, lines) end
  local syntax = vim.bo[buffer].syntax
  if syntax ~= '' and vim.fn.exists('g:syntax_on') == 1 then return by_syntax_file(syntax, lines) end
end

return M
