// Package storetest checks that a [wrstats.Store] keeps the promises of that interface. Its rules
// are a table; each has a sentence that says what is promised, and a failure prints it.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) wrstats.Store { return mystore.New(addr) })
//	}
//
// The stores that are opened may share a server: every rule uses keys of its own, with a random
// prefix, and leaves them behind. The suite writes about 100,000 keys, for which a server needs
// some 20 MB.
package storetest
