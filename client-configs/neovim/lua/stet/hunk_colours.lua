-- The highlight groups of hunks. Each is a default: your own definition, or that of your colour
-- scheme, wins.

local M = {}

local function mix(one, other, share)
  local function channel(shift)
    local a, b = bit.band(bit.rshift(one, shift), 255), bit.band(bit.rshift(other, shift), 255)
    return bit.lshift(math.floor(a + (b - a) * share + 0.5), shift)
  end
  return channel(16) + channel(8) + channel(0)
end

--- Count the colours to use: of the screen, or none if the user asks for none (`NO_COLOR`).
local function n_colours()
  if (vim.env.NO_COLOR or '') ~= '' then return 0 end
  local screens = vim.api.nvim_list_uis()
  if vim.o.termguicolors or #screens == 0 then return 256 end
  return math.max(unpack(vim.tbl_map(function(screen) return screen.term_colors or 0 end, screens)))
end

--- Make the groups of one side: a faint background for lines, a strong one for words. The
--- foreground stays that of the syntax.
local function side(group, colour, cterm)
  local dark = vim.o.background == 'dark'
  local normal = vim.api.nvim_get_hl(0, { name = 'Normal', link = false })
  local theme = vim.api.nvim_get_hl(0, { name = group, link = false })
  local page = normal.bg or (dark and 0x000000 or 0xffffff)
  local themed = not theme.reverse and theme.bg ~= page and theme.bg
  local line = themed or mix(page, colour, 0.25)
  local word = mix(line, colour, dark and 0.35 or 0.3)
  return { bg = line, ctermbg = cterm[1] }, { bg = word, bold = true, ctermbg = cterm[2], cterm = { bold = true } }
end

-- Set a group, unless somebody else has defined it.
local own = {}
local function set(name, value)
  local now = vim.api.nvim_get_hl(0, { name = name })
  if next(now) and not vim.deep_equal(now, own[name]) then return end
  vim.api.nvim_set_hl(0, name, value)
  own[name] = vim.api.nvim_get_hl(0, { name = name })
end

--- Define the groups; to be called again when the colours of the screen or the scheme change.
function M.define()
  set('StetDeleteSign', { link = 'Removed' })
  set('StetAddSign', { link = 'Added' })
  set('StetChangeSign', { link = 'Changed' })
  set('StetConflictSign', { link = 'DiagnosticWarn' })
  set('StetNote', { link = 'Comment' })
  local n = n_colours()
  if n < 256 then
    local function plain(colour, more)
      local cterm = more and { [more] = true }
      return { ctermfg = n >= 8 and colour or nil, cterm = cterm, [more or 'nocombine'] = more and true or nil }
    end
    set('StetDelete', plain(1))
    set('StetDeleteWord', plain(1, 'reverse'))
    set('StetAdd', plain(2, 'bold'))
    set('StetAddWord', plain(2, 'reverse'))
    set('StetConflict', plain(3, 'underline'))
    return
  end
  local dark = vim.o.background == 'dark'
  local delete, delete_word = side('DiffDelete', dark and 0xff5060 or 0xf04050, dark and { 52, 88 } or { 224, 217 })
  local add, add_word = side('DiffAdd', dark and 0x30c060 or 0x20a040, dark and { 22, 28 } or { 194, 157 })
  local conflict = side('DiagnosticWarn', dark and 0xe0b040 or 0xd0a020, dark and { 58, 58 } or { 230, 230 })
  set('StetDelete', delete)
  set('StetDeleteWord', delete_word)
  set('StetAdd', add)
  set('StetAddWord', add_word)
  set('StetConflict', conflict)
end

return M
