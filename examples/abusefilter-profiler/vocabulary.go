package main

// What the generator makes its edits of. A text that is there twice is twice as frequent.
var (
	channels = []string{
		"#en.wikipedia", "#en.wikipedia", "#en.wikipedia", "#de.wikipedia", "#fr.wikipedia",
		"#es.wikipedia", "#ru.wikipedia", "#vi.wikipedia", "#simple.wikipedia", "#commons.wikimedia",
	}
	subjects = []string{
		"Albert Einstein", "Amazon rainforest", "Association football", "Battle of Hastings", "Bread", "Cat",
		"Climate of Iceland", "Danube", "Eiffel Tower", "French Revolution", "Giraffe", "Great Barrier Reef",
		"History of tea", "Johann Sebastian Bach", "Kilimanjaro", "List of rivers of Europe", "Marie Curie",
		"Moon", "Mount Everest", "Olympic Games", "Photosynthesis", "Printing press", "Roman Empire",
		"Solar System", "Steam engine", "Tokyo", "University of Oxford", "Volcano", "William Shakespeare", "World War II",
	}
	sections = []string{"History", "Early life", "References", "External links", "Career", "Geography", "Reception", "See also"}

	summaries = []string{
		"fixed a typo", "copyedit", "added reference", "ce, grammar", "expand section with two sources", "added image",
		"reverted edits by [[Special:Contributions/192.0.2.44|192.0.2.44]] to last version by Editor12", "",
		"Undid revision 812345678 by [[Special:Contributions/203.0.113.9|203.0.113.9]] ([[User talk:203.0.113.9|talk]])",
		"update population figures per 2021 census, see https://stats.example.org/2021/table4", "wikilinks", "",
		"clean up using [[Project:AWB|AWB]]", "reply", "removed unsourced claim, see talk page", "moved paragraph; no change of content",
		"corrected the date of birth according to the parish register (Müller 1987, p. 12)", "category", "infobox", "per discussion on the talk page",
	}

	newcomerSummaries = []string{"new article", "Created page with stub", "", "my first page"}

	botNames     = []string{"CiteBot", "InterwikiBot", "DateBot", "ArchiveBot", "CleanupBot", "RescueBot"}
	botSummaries = []string{
		"Robot: adding missing reference titles", "bot: fix links to disambiguation page", "Archiving 2 discussions",
		"Rescuing 3 sources and tagging 1 as dead. #IABot (v2.0)", "Bot: date formats per [[WP:DATE]]", "r2.7.3) (Robot: modifying [[de:Katze]]",
	}

	vandalNames     = []string{"Xx killer xX", "Poopmaster", "Admin is dumb", "asdfgh", "WillyOnWheels9", "H4ck3rman", "LOLOLOL"}
	vandalSummaries = []string{
		"lol", "hahaha you suck", "this is stupid", "asdfasdf", "poop poop poop", "my teacher is an idiot", "sh1t happens", "hi mom",
		"aaaaaaaaaaaaaa", "you are all losers", "f*** this page", "", "penis", "boooooring", "qwertyuiop", "JIMMY WAS HERE",
		"bcdfgh", "he died yesterday", "#%&/(#%&/(#%&/(#", "whatever?!?!?!", "", "",
	}
	blankingSummaries = []string{"", "", "removed", "delete this", "fixed a typo", "wrong", "/* History */", "not true"}

	spamNames     = []string{"Best Deals 4U", "AcmeMarketing", "SEO expert", "CheapPillsOnline", "ViralAgency", "BuyFollowersNow"}
	spamSummaries = []string{
		"added link http://cheap-pills.example.com/buy?now=1", "best casino bonus www.casino-win.example", "useful external link https://seo.example.net/blog",
		"added official site http://acme.example.com and http://acme-shop.example.com", "Click here for free followers", "great viagra offer", "my company profile",
		"more on https://bit.ly/3xAmple",
	}
	spamTitles = []string{"Acme Marketing Solutions Ltd", "Best online casino 2024", "Buy cheap pills online", "10 reasons to choose Acme", "BUY NOW!!!"}
)
