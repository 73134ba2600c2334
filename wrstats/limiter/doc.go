// Package limiter limits how often things happen in rolling windows, by counters in a
// [wrstats.Store] that processes share: logins of a user, edits from an address, requests of a tenant.
//
// A [Condition] allows so many in a window. The window is cut into buckets, each a key in the store
// that ends by itself; what has happened is the sum of the buckets, of which the oldest counts by the
// part that is still inside the window. A decision reads them in one round trip, and hands over what it
// counts without waiting for the servers to apply it.
//
// Within a process no limit is overshot: decisions about a counter are made one after the other, and
// those that arrive together by one read, as of the instant at which that begins. Other processes do not see what one has allowed until the
// servers have applied it. So with n processes a limit can be overshot by what n-1 of them allow at
// once: for amounts of 1, by one for each goroutine that asks there at the same time. What a process counts
// whose clock is ahead, the others see when their clocks are there.
//
// What a server evicts, or loses when it restarts, is not counted any more; nor is what a broken
// connection loses on its way, of which [Options.OnError] hears.
package limiter
