-- Stet for Neovim 0.11 or newer: `:help stet`. Configure it with `vim.g.stet` in your init.lua;
-- this file is replaced when Stet is upgraded.

if vim.g.loaded_stet then return end
vim.g.loaded_stet = true
if vim.fn.has('nvim-0.11') == 0 then return vim.notify('Stet needs Neovim 0.11 or newer', 3) end
if _G.stet_status then
  local words = 'Stet: your plugin folder has a stet.lua of an earlier version, which was loaded instead. '
  return vim.notify(words .. 'Run `stet config neovim --write` to replace it.', 3)
end
require('stet').start()
