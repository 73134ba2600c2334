package timewindow_test

import (
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/timewindow"
)

func ExampleIndex() {
	t := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fmt.Println(timewindow.Index(t, 10*time.Minute))
	fmt.Println(timewindow.Index(time.Unix(-1, 0), 10*time.Minute))
	// Output:
	// 2945538
	// -1
}

func ExampleStart() {
	fmt.Println(timewindow.Start(2945538, 10*time.Minute))
	// Output: 2026-01-02 03:00:00 +0000 UTC
}

func ExampleRange_Buckets() {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := timewindow.Range{Start: now.Add(-time.Hour), End: now}
	first, last := r.Buckets(10 * time.Minute)
	fmt.Println(r.Duration(), last-first+1, "buckets")
	// Output: 1h0m0s 7 buckets
}

func ExampleRange_Share() {
	now := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)
	hour := timewindow.Range{Start: now.Add(-time.Hour), End: now}
	first, last := hour.Buckets(10 * time.Minute)
	for i := first; i <= last; i++ {
		fmt.Print(hour.Share(i, 10*time.Minute, now), " ")
	}
	// Output: 0.5 1 1 1 1 1 1
}
