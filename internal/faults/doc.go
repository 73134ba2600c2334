// Package faults pulls the plug: its tests run services on real memcached, Redis, Redis Cluster and twemproxy
// servers, take from them what can be taken, give it back, and then hold what came of it against the library's
// promises. It has nothing to import.
//
// A scenario is a sentence that says what is done, and what does it; invariants_test.go is what has to hold
// after every one of them. It counts with its own ledger, and reads the servers by itself.
//
//	go test ./internal/faults                       every scenario, in a minute
//	go test -v ./internal/faults                    and the table of what was tried, and what was held
//	go test ./internal/faults -timeout 3h -long     longer faults, every byte, a million entities, soaks of ten minutes
//	go test ./internal/faults -run TestSoak -timeout 1h -long -soak 2m
//
// With WRSTATS_FAULTS_TABLE=FILE in the environment the table is written to that file, too.
package faults
