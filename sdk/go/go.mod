module faucet

go 1.27
