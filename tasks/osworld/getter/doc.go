// Package getter looks at what came of a task: it gives the metrics the values
// that they compare.
//
//	result, err := getter.Get(ctx, e, check.Result, &getter.Options{Dir: results, TaskID: task.ID, Cache: "cache"})
//	expected, err := getter.Get(ctx, e, check.Expected, &getter.Options{Dir: golds, TaskID: task.ID, Cache: "cache"})
//
// Results and what is expected are copied to different folders: both may give
// their files the same name.
//
// What is not there is nil, and no error: a file that the agent did not make, a
// browser that it closed. Among several files it is a [tasks.File] without a
// path. An error says that nothing can be told: the computer is gone, a
// download failed, the task asks for something wrong; an [*Unsupported], that this
// kind of getter cannot be had here.
//
// All that is read was made by the agent or by somebody's program. Every file,
// answer and tree has a limit, nothing of it is executed on this machine, databases
// are opened for reading only and as copies, and no copy is put outside of
// [Options.Dir] and the cache.
//
// # What gives what
//
// Files: vm_file, cloud_file, cache_file, gimp_config_file, vlc_config,
// vlc_playing_info, vm_wallpaper, audio_in_slide, background_image_in_slide and
// pdf_from_url give [tasks.File]; with several files of which more than one is
// given, [tasks.Files].
//
// Texts: vm_command_line, vm_command_error, vm_terminal_output,
// accessibility_tree (XML), active_url_from_accessTree, default_video_player,
// default_search_engine, profile_name, chrome_language, chrome_saved_address; "true" or
// "false": enable_do_not_track, enable_safe_browsing,
// enable_enhanced_safety_browsing, new_startup_page, data_delete_automacally; "light",
// "dark" or "system": chrome_color_scheme, chrome_appearance_mode_ui.
//
// Objects: rule and rule_relativeTime; list_directory, {type, name, children};
// vm_screen_size and vm_window_size, {width, height}; chrome_font_size; bookmarks;
// shortcuts_on_desktop, {file: text}; active_tab_info and page_info, {title, url,
// content}; active_tab_url_parse, active_tab_html_parse, url_path_parse; url_dashPart
// gives a text or an object.
//
// Lists: cookie_data and history, of rows; open_tabs_info, of {title, url};
// find_unpacked_extension_path, find_installed_extension_name and
// enabled_experiments, of texts; extensions_installed_from_shop, of manifests;
// content_from_vm_file and info_from_website, of texts.
//
// The profile of the browser is ~/.config/google-chrome, or ~/.config/chromium
// where a file is there alone. Chrome writes it some seconds after a change and
// at its end.
//
// [Defects] are right by default. And these are always right: results and expected files in one folder
// overwrote each other; a timezone that is not known was UTC; "first monday four months later" failed in August, and eight
// months later in April; a file or page that could not be had became an empty
// one.
package getter
