-- The program that is started. `stet config neovim --write` writes the whole path here where
-- a login shell would not find `stet`.
return 'stet'
