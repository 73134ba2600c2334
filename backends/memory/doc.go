// Package memory keeps counters in the process: the embedded default among the backends, and the
// quickest. Nothing in it is written to disk or seen by another process.
//
// It is exact: no increment is lost or counted twice, however many goroutines count. It is compact:
// keys of a window share the text up to their bucket, and a counter costs a third to a half of what
// it costs in a Go map. It frees what has ended: keys that end together leave together, without a
// goroutine or a timer, as a by-product of the calls that come later.
//
// Limitations: a Store has no bound but its keys' TTLs. A Store that is no longer called keeps what
// it holds. Time is the process's monotonic clock, which stands still while the machine sleeps.
package memory
