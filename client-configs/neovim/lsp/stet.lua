-- The configuration of the server. `vim.lsp.config('stet', { … })` in your init.lua overrides it.
return require('stet.server').configuration()
