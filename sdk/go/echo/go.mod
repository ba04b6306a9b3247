module echo

go 1.27

require faucet v0.0.0

replace faucet => ..
