// Makes the page refresh itself, and sort and search at once. Without it the links and the form do.
"use strict";
(() => {
	const $ = (id) => document.getElementById(id);
	const every = Number(document.body.dataset.refresh);
	const table = $("rules"), search = $("search"), pauseButton = $("pause");
	const cut = table?.hasAttribute("data-cut"); // there are rules that only the server can find
	let paused = false, timer = 0, running = null, failed = false;

	// What a screen reader is told: what changes by the reader's own doing, or stops working; not each refresh.
	const say = (text) => { if ($("status").textContent !== text) $("status").textContent = text; };
	const show = (text) => { if ($("state")) $("state").textContent = text; };

	// Sorting. A row's data-v has its values in the order of all columns; the first one is its place by name.
	let sort = "", desc = false;
	const allKeys = ["id", "runs", "matches", "rate", "mean", "p50", "p95", "p99", "share", "complete"];
	const heads = () => table ? [...table.tHead.querySelectorAll("th[data-key]")] : [];
	const readSort = () => {
		const sorted = heads().find((th) => th.hasAttribute("aria-sort"));
		sort = sorted ? sorted.dataset.key : "share";
		desc = sorted ? sorted.getAttribute("aria-sort") === "descending" : true;
	};
	const rows = () => [...$("rows").querySelectorAll("tr[data-v]")];
	const sortRows = () => {
		const at = allKeys.indexOf(sort);
		const before = rows();
		const list = before.map((row) => [row, row.dataset.v.split(" ").map(Number)]);
		list.sort(([, a], [, b]) => (desc ? b[at] - a[at] : a[at] - b[at]) || a[0] - b[0]);
		if (list.some(([row], i) => row !== before[i])) {
			keepingFocus(() => $("rows").append(...list.map(([row]) => row)));
		}
	};
	const wanted = (key) => sort === key ? !desc : key !== "id" && key !== "complete";
	const address = (s, d) => {
		const query = new URLSearchParams();
		if (s !== "share" || !d) query.set("sort", s);
		if (query.has("sort") && d) query.set("desc", "1");
		const text = cut ? new URL(location.href).searchParams.get("q") : search.value;
		if (text) query.set("q", text);
		return query.size ? "./?" + query : "./";
	};
	const relink = () => {
		for (const th of heads()) {
			const key = th.dataset.key;
			if (key === sort) th.setAttribute("aria-sort", desc ? "descending" : "ascending");
			else th.removeAttribute("aria-sort");
			th.querySelector("a").href = address(key, wanted(key));
		}
		const query = address(sort, desc).slice(2);
		$("json").href = "./?format=json" + query.replace("?", "&");
		history.replaceState(null, "", address(sort, desc));
	};

	// Searching.
	const filter = () => {
		const text = search.value.toLowerCase();
		let found = 0, all = 0;
		for (const row of rows()) {
			row.hidden = !row.cells[0].querySelector("bdi").textContent.toLowerCase().includes(text);
			all++;
			if (!row.hidden) found++;
		}
		return text === "" ? "" : found.toLocaleString("en") + " of " + all.toLocaleString("en") + (all === 1 ? " rule" : " rules") + " found.";
	};
	let telling = 0;
	const searched = () => {
		const text = filter();
		const count = $("count"), note = count.dataset.text ??= count.textContent;
		count.textContent = text || note;
		clearTimeout(telling);
		telling = setTimeout(() => say(text), 700);
		relink();
	};

	// Refreshing. What has the focus is found again by its address or id.
	const keepingFocus = (change) => {
		const active = document.activeElement;
		const inPart = active?.closest("[data-part]");
		const href = active?.getAttribute("href"), label = active?.getAttribute("aria-labelledby");
		const regions = [...document.querySelectorAll(".scroll")].map((el) => [el.getAttribute("aria-labelledby"), el.scrollLeft]);
		const x = scrollX, y = scrollY;
		change();
		for (const [name, left] of regions) {
			const el = document.querySelector(`.scroll[aria-labelledby="${name}"]`);
			if (el && el.scrollLeft !== left) el.scrollLeft = left;
		}
		if (inPart && document.activeElement !== active) {
			const part = $(inPart.id);
			const again = href ? [...part.querySelectorAll("a")].find((a) => a.getAttribute("href") === href)
				: label ? part.querySelector(`[aria-labelledby="${label}"]`) : null;
			again?.focus({ preventScroll: true });
		}
		scrollTo({ left: x, top: y, behavior: "instant" });
	};
	const selecting = () => {
		const s = getSelection();
		return s && !s.isCollapsed && s.anchorNode?.parentElement?.closest("[data-part]");
	};
	const swap = (fresh) => {
		if (selecting()) return;
		keepingFocus(() => {
			for (const part of document.querySelectorAll("[data-part]")) {
				const next = fresh.getElementById(part.id);
				if (next && next.innerHTML !== part.innerHTML) part.replaceChildren(...next.childNodes);
			}
			if (!table) return;
			delete $("count").dataset.text;
			sortRows();
			if (search.value && !cut) searched();
		});
	};
	const source = () => {
		if (!table || cut) return location.href;
		const url = new URL(location.href);
		url.searchParams.delete("q"); // all rows, of which some are hidden
		return url.href;
	};
	const load = async () => {
		running = new AbortController();
		const response = await fetch(source(), { signal: running.signal, headers: { Accept: "text/html" }, cache: "no-store" });
		const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
		if (!response.ok) throw new Error(fresh.querySelector("h1")?.textContent || "status " + response.status);
		if (!paused) swap(fresh);
	};
	const refresh = async () => {
		clearTimeout(timer);
		if (paused || document.hidden || running) return;
		const began = performance.now();
		try {
			await load();
			if (failed) say("Updates work again.");
			failed = false;
			show("Updates every " + (every / 1000).toLocaleString("en") + " s");
		} catch (error) {
			if (!paused && !document.hidden) {
				if (!failed) say("The page could not be updated: " + error.message);
				failed = true;
				show("Not updated: " + error.message);
			}
		}
		running = null;
		// A read that takes long is not asked for all the time.
		timer = setTimeout(refresh, Math.max(every, 4 * (performance.now() - began)));
	};

	if (table) {
		readSort();
		table.tHead.addEventListener("click", (event) => {
			const link = event.target.closest("a");
			if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
			event.preventDefault();
			const key = link.closest("th").dataset.key;
			[desc, sort] = [wanted(key), key];
			sortRows();
			relink();
			say("Sorted by " + link.firstChild.textContent + ", " + (desc ? "descending" : "ascending") + ".");
		});
	}
	if (table && !cut) {
		search.addEventListener("input", searched);
		search.form.addEventListener("submit", (event) => { event.preventDefault(); searched(); });
		search.form.querySelector("button").hidden = true;
		$("clear")?.remove();
	}
	if (every > 0 && pauseButton) {
		pauseButton.hidden = false;
		show("Updates every " + (every / 1000).toLocaleString("en") + " s");
		pauseButton.addEventListener("click", () => {
			paused = !paused;
			running?.abort();
			pauseButton.textContent = paused ? "Resume updates" : "Pause updates";
			show(paused ? "Paused" : "Updating");
			say(paused ? "Updates are paused." : "Updates go on.");
			if (!paused) { running = null; refresh(); }
		});
		document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
		timer = setTimeout(refresh, table && search.value ? 0 : every);
	} else if (table && search.value && !cut) {
		load().catch(() => {}).finally(() => { running = null; });
	}
})();
