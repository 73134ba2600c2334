package limiter_test

import (
	"context"
	"fmt"
	"time"

	"github.com/wrstats/go-wrstats/backends/memory"
	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

var (
	ctx  = context.Background()
	noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func ExampleLimiter_Allow() {
	store := memory.New(memory.Options{}) // or what backends.Open returns
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{
		{Name: "login", Limit: 2, Window: time.Minute},
	}, limiter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		ok, err := l.Allow(ctx, "login", wrstats.Local("user", "alice"))
		fmt.Println(ok, err)
	}
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
}

// A batch is all or nothing, over several conditions and entities.
func ExampleLimiter_TryAt() {
	store := memory.New(memory.Options{})
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{
		{Name: "edit", Limit: 8, Window: time.Minute},
		{Name: "links", Limit: 20, Window: time.Hour},
	}, limiter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	address := wrstats.Global("ip", "192.0.2.7")
	for _, links := range []int64{12, 12} {
		d, err := l.TryAt(ctx, noon,
			limiter.Op{Condition: "edit", Entity: wrstats.Local("user", "alice"), Amount: 1},
			limiter.Op{Condition: "links", Entity: address, Amount: links},
		)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("allowed:", d.Allowed)
		for _, o := range d.Ops {
			fmt.Printf("  %s of %v: %d, with this %d of %d: %v\n", o.Op.Condition, o.Op.Entity, o.Prev, o.New, o.Limit, o.Allowed)
		}
		if !d.Allowed {
			fmt.Println("  again in", d.RetryAfter().Round(time.Second))
		}
	}
	// Output:
	// allowed: true
	//   edit of user:alice: 0, with this 1 of 8: true
	//   links of global:ip:192.0.2.7: 0, with this 12 of 20: true
	// allowed: false
	//   edit of user:alice: 1, with this 2 of 8: true
	//   links of global:ip:192.0.2.7: 12, with this 24 of 20: false
	//   again in 1h0m35s
}

func ExampleLimiter_PeekAt() {
	store := memory.New(memory.Options{})
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{{Name: "uploads", Limit: 10, Window: time.Hour}}, limiter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	alice := wrstats.Local("user", "alice")
	if err := l.AddAt(ctx, noon, limiter.Op{Condition: "uploads", Entity: alice, Amount: 7}); err != nil {
		fmt.Println(err)
		return
	}
	d, err := l.PeekAt(ctx, noon.Add(time.Minute), limiter.Op{Condition: "uploads", Entity: alice})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Ops[0].Limit-d.Ops[0].Prev, "left")
	// Output: 3 left
}

// What has happened anyway counts too, and may take the count past the limit.
func ExampleLimiter_Add() {
	store := memory.New(memory.Options{})
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{{Name: "failures", Limit: 2, Window: time.Hour}}, limiter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	alice := wrstats.Local("user", "alice")
	for range 3 { // wrong passwords
		if err := l.Add(ctx, limiter.Op{Condition: "failures", Entity: alice, Amount: 1}); err != nil {
			fmt.Println(err)
			return
		}
	}
	d, err := l.Peek(ctx, limiter.Op{Condition: "failures", Entity: alice, Amount: 1})
	fmt.Println(d.Allowed, err)
	// Output: false <nil>
}

func ExampleLimiter_Reset() {
	store := memory.New(memory.Options{})
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{{Name: "login", Limit: 1, Window: time.Hour}}, limiter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	alice := wrstats.Local("user", "alice")
	first, _ := l.Allow(ctx, "login", alice)
	second, _ := l.Allow(ctx, "login", alice)
	err = l.Reset(ctx, "login", alice)
	third, _ := l.Allow(ctx, "login", alice)
	fmt.Println(first, second, err, third)
	// Output: true false <nil> true
}

// In shadow mode nothing is denied; the hook tells what would have been.
func ExampleOptions_shadow() {
	store := memory.New(memory.Options{})
	defer store.Close()
	l, err := limiter.New(store, []limiter.Condition{{Name: "login", Limit: 1, Window: time.Hour}}, limiter.Options{
		Shadow: true,
		OnDenied: func(d limiter.Decision) {
			for _, o := range d.Ops {
				if !o.Allowed {
					fmt.Println("would deny", o.Op.Entity, "by", o.Op.Condition)
				}
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		ok, _ := l.Allow(ctx, "login", wrstats.Local("user", "alice"))
		fmt.Println(ok)
	}
	// Output:
	// true
	// would deny user:alice by login
	// true
}
