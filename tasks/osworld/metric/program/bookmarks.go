package program

import (
	"fmt"
	"slices"

	"desktop-agent/tasks"
)

// expectedBookmarks is is_expected_bookmarks. It takes the "roots" of the
// browser's file of bookmarks. A rule is one of
//
//   - {type: "bookmark_bar_folders_names", names}: the folders on the bookmark bar have
//     just these names;
//   - {type: "bookmark_bar_websites_urls", urls}: the pages on the bar are just these;
//   - {type: "liked_authors_websites_urls", urls}: the folder "Liked Authors" on the bar
//     has just these pages, where a list of URLs stands for one of them.
//
// Order and repetition do not count.
func expectedBookmarks(result tasks.Value, rule tasks.Params) (tasks.Score, error) {
	roots, _ := result.(map[string]any)
	bar, ok := roots["bookmark_bar"].(map[string]any)
	bookmarks := children(bar)
	switch rule["type"] {
	case "bookmark_bar_folders_names":
		want, err := needAll(rule, "names")
		if err != nil {
			return tasks.Score{}, err
		}
		got := fields(bookmarks, "folder", "name")
		return yesIf(ok && sameSet(want, got), "the folders are %.300q and should be %.300q", got, want), nil
	case "bookmark_bar_websites_urls":
		want, err := needAll(rule, "urls")
		if err != nil {
			return tasks.Score{}, err
		}
		got := fields(bookmarks, "url", "url")
		return yesIf(ok && sameSet(want, got), "the pages are %.300q and should be %.300q", got, want), nil
	case "liked_authors_websites_urls":
		return likedAuthors(bookmarks, rule)
	}
	return tasks.Score{}, unknownType(rule, "bookmark_bar_folders_names, bookmark_bar_websites_urls or liked_authors_websites_urls")
}

// likedAuthors judges the pages in the folder "Liked Authors".
func likedAuthors(bookmarks []map[string]any, rule tasks.Params) (tasks.Score, error) {
	if !rule.Has("urls") {
		return tasks.Score{}, fmt.Errorf("rule: %q is missing", "urls")
	}
	var want [][]string
	for _, urls := range rule.List("urls") {
		choice, err := tasks.Params{"urls": urls}.Texts("urls")
		if err != nil {
			return tasks.Score{}, fmt.Errorf("rule: %w", err)
		}
		want = append(want, choice)
	}
	i := slices.IndexFunc(bookmarks, func(b map[string]any) bool {
		return b["type"] == "folder" && b["name"] == "Liked Authors"
	})
	if i < 0 {
		return tasks.No(`there is no folder "Liked Authors"`), nil
	}
	got := distinct(fields(children(bookmarks[i]), "url", "url"))
	return yesIf(oneOfEach(want, got), "the pages are %.300q and should be one of each of %.300q", got, want), nil
}

// children returns what is in a folder of bookmarks.
func children(folder map[string]any) []map[string]any {
	list, _ := folder["children"].([]any)
	var out []map[string]any
	for _, child := range list {
		if bookmark, ok := child.(map[string]any); ok {
			out = append(out, bookmark)
		}
	}
	return out
}

// fields returns one field of the bookmarks of a type.
func fields(bookmarks []map[string]any, kind, key string) []string {
	list := []string{}
	for _, b := range bookmarks {
		if text, ok := b[key].(string); ok && b["type"] == kind {
			list = append(list, text)
		}
	}
	return list
}

// oneOfEach tells whether elements can be picked, one of each choice, such that
// just the elements of got are picked. Trying all ways to pick would take a time that
// doubles with each choice, so elements are matched to choices by augmenting paths.
func oneOfEach(choices [][]string, got []string) bool {
	if len(got) > len(choices) {
		return false
	}
	for _, choice := range choices {
		if !slices.ContainsFunc(choice, func(s string) bool { return slices.Contains(got, s) }) {
			return false
		}
	}
	owner := make([]int, len(choices)) // the element that a choice is matched to, plus 1
	var match func(element int, seen []bool) bool
	match = func(element int, seen []bool) bool {
		for i, choice := range choices {
			if seen[i] || !slices.Contains(choice, got[element]) {
				continue
			}
			seen[i] = true
			if owner[i] == 0 || match(owner[i]-1, seen) {
				owner[i] = element + 1
				return true
			}
		}
		return false
	}
	for element := range got {
		if !match(element, make([]bool, len(choices))) {
			return false
		}
	}
	return true
}
