/*
 * A module of GTK 3 programs (GTK_MODULES) that tells what GTK itself finds below
 * the pointer, each time the file $GTK_EYE_ASK is written to, and does nothing until
 * then, so that the program has the timers that it has without it: the object
 * that a press there would be delivered to, and those that hold it. It asks GDK for
 * the window at the pointer and GTK for the widget of that window, as GTK does for
 * each event (gtk_get_event_widget), and never the accessibility tree for a place,
 * but for the cells of a widget that draws its cells itself. It asks once the window has
 * been laid out: until then a row that was made anew, as the sidebar of the file chooser
 * makes its own whenever a folder or a disk comes, is 1 pixel wide and not where it is
 * about to be drawn.
 *
 * A line of the file $GTK_EYE_LOG is
 *   PID X Y [TAB role TAB name TAB path TAB type TAB flags]...
 * the innermost object first; X and Y are pixels of the screen; path is the number
 * of the object on the accessibility bus, or 0; flags are letters, i: takes no input.
 * Tabs and line ends in names are blanks.
 *
 * With $GTK_EYE_RTL set, the program's window is laid out from right to left.
 *
 * It is compiled without the headers of GTK, which tests need not install: the
 * declarations below are those of GTK 3, GDK 3 and ATK.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

typedef void *P;
typedef struct { int x, y, width, height; } Rectangle;

extern unsigned g_unix_fd_add(int, int, int (*)(int, int, P), P); /* 1 is when it can be read */
extern void g_object_add_weak_pointer(P, P *);
extern void g_object_remove_weak_pointer(P, P *);
extern void g_object_unref(P);
extern unsigned long g_signal_connect_data(P, const char *, void (*)(P, P), P, P, int);
extern unsigned g_signal_handlers_disconnect_matched(P, int, unsigned, unsigned, P, void (*)(P, P), P);
extern P g_object_get_data(P, const char *);
extern const char *g_type_name_from_instance(P);
extern int g_type_check_instance_is_a(P, unsigned long);
extern unsigned long g_type_from_name(const char *);
extern P gdk_display_get_default(void);
extern P gdk_display_get_default_seat(P);
extern P gdk_seat_get_pointer(P);
extern P gdk_device_get_window_at_position(P, int *, int *);
extern void gdk_window_get_user_data(P, P *);
extern P gdk_window_get_frame_clock(P);
extern void gdk_frame_clock_request_phase(P, int); /* 8 is the layout */
extern P gdk_window_get_parent(P);
extern void gdk_window_get_root_coords(P, int, int, int *, int *);
extern P gtk_widget_get_window(P);
extern int gtk_widget_get_has_window(P);
extern int gtk_widget_get_mapped(P);
extern int gtk_widget_is_sensitive(P);
extern P gtk_widget_get_parent(P);
extern P gtk_widget_get_toplevel(P);
extern int gtk_widget_translate_coordinates(P, P, int, int, int *, int *);
extern void gtk_widget_get_allocation(P, Rectangle *);
extern P gtk_widget_get_accessible(P);
extern void gtk_container_forall(P, void (*)(P, P), P);
extern int gtk_widget_get_scale_factor(P);
extern void gtk_widget_set_default_direction(int); /* 2 is from right to left */
extern const char *atk_object_get_name(P);
extern int atk_object_get_role(P);
extern const char *atk_role_get_name(int);
extern P atk_object_get_parent(P);
extern P atk_component_ref_accessible_at_point(P, int, int, int);

static int out = -1;
enum { longest = 16384 }; /* bytes of a line */

/* put appends an object to a line. */
static void put(char *line, P object, const char *type, int sensitive)
{
	char name[512];
	const char *told = atk_object_get_name(object);
	snprintf(name, sizeof name, "%s", told ? told : "");
	for (char *c = name; *c; c++)
		if (*c == '\t' || *c == '\n' || *c == '\r') *c = ' ';
	size_t n = strlen(line);
	snprintf(line + n, longest - n, "\t%s\t%s\t%d\t%s\t%s", atk_role_get_name(atk_object_get_role(object)), name,
		(int)(long)g_object_get_data(object, "spi-dbus-id"), type, sensitive ? "-" : "i");
}

struct search { P top; int x, y; P found; };

static void inside(P child, P data)
{
	struct search *s = data;
	Rectangle a;
	int x, y;
	if (!gtk_widget_get_mapped(child) || gtk_widget_get_has_window(child)) return; /* GDK would have named it */
	gtk_widget_get_allocation(child, &a);
	if (!gtk_widget_translate_coordinates(s->top, child, s->x, s->y, &x, &y)) return;
	if (x >= 0 && y >= 0 && x < a.width && y < a.height) s->found = child;
}

/* deepest follows children that have no window of their own, such as labels. */
static P deepest(P widget, int x, int y)
{
	unsigned long container = g_type_from_name("GtkContainer");
	while (g_type_check_instance_is_a(widget, container)) {
		struct search s = {widget, x, y, NULL};
		gtk_container_forall(widget, inside, &s);
		if (!s.found) break;
		int cx, cy;
		gtk_widget_translate_coordinates(widget, s.found, x, y, &cx, &cy);
		widget = s.found, x = cx, y = cy;
	}
	return widget;
}

/* pointed returns the window at the pointer and where in the screen the pointer is, or NULL
 * where the window is none of this program's. Both are of one question to the server: by the
 * next one the pointer may have moved on. */
static P pointed(int *x, int *y)
{
	P display = gdk_display_get_default(), window;
	int wx, wy;
	if (!display) return NULL;
	window = gdk_device_get_window_at_position(gdk_seat_get_pointer(gdk_display_get_default_seat(display)), &wx, &wy);
	if (window) gdk_window_get_root_coords(window, wx, wy, x, y);
	return window;
}

/* tell writes a line of what is at the pointer, or none where nothing is. */
static void tell(void)
{
	int x, y, ox, oy, tx, ty;
	P window = pointed(&x, &y), widget = NULL;
	char line[longest];
	for (; window && !widget; window = gdk_window_get_parent(window))
		gdk_window_get_user_data(window, &widget);
	if (!widget) return;
	int scale = gtk_widget_get_scale_factor(widget);
	snprintf(line, sizeof line, "%d %d %d", (int)getpid(), x * scale, y * scale);
	/* From the window at the pointer to the widget's own coordinates, by the screen. */
	P top = gtk_widget_get_toplevel(widget);
	gdk_window_get_root_coords(gtk_widget_get_window(top), 0, 0, &ox, &oy);
	if (gtk_widget_translate_coordinates(top, widget, x - ox, y - oy, &tx, &ty)) widget = deepest(widget, tx, ty);
	P object = gtk_widget_get_accessible(widget);
	P cell = atk_component_ref_accessible_at_point(object, x, y, 0);
	/* A cell or a row is no widget: it is the widget that knows. A child that
	 * is a widget is known from GDK, and better. */
	unsigned long is_widget = g_type_from_name("GtkWidgetAccessible");
	if (cell && cell != object && !g_type_check_instance_is_a(cell, is_widget)) {
		for (P o = cell; o && o != object; o = atk_object_get_parent(o))
			put(line, o, g_type_name_from_instance(o), 1);
	}
	if (cell) g_object_unref(cell);
	for (P w = widget; w; w = gtk_widget_get_parent(w))
		put(line, gtk_widget_get_accessible(w), g_type_name_from_instance(w), gtk_widget_is_sensitive(w));
	size_t n = strlen(line);
	line[n] = '\n';
	(void)!write(out, line, n + 1); /* nobody may read it any more */
}

static P clock_of_layout; /* of the window that is to be laid out before the answer, or NULL */

static void painted(P clock, P data);

/* await has the answer follow the next frame of a clock instead of that of another one: a
 * menu that has closed meanwhile has no more of them. NULL is no clock. */
static void await(P clock)
{
	if (clock_of_layout) {
		g_signal_handlers_disconnect_matched(clock_of_layout, 8 /* by function */, 0, 0, NULL, painted, NULL);
		g_object_remove_weak_pointer(clock_of_layout, &clock_of_layout);
	}
	if (!(clock_of_layout = clock)) return;
	g_object_add_weak_pointer(clock, &clock_of_layout);
	g_signal_connect_data(clock, "after-paint", painted, NULL, NULL, 0);
	gdk_frame_clock_request_phase(clock, 8);
}

static void painted(P clock, P data)
{
	(void)clock, (void)data;
	await(NULL);
	tell();
}

static int asked(int fd, int unused, P data)
{
	char events[4096];
	int x, y;
	P window, clock;
	(void)unused, (void)data;
	if (read(fd, events, sizeof events) < 0) return 1;
	if ((window = pointed(&x, &y)) && (clock = gdk_window_get_frame_clock(window)) && clock != clock_of_layout) await(clock);
	return 1;
}

int gtk_module_init(int *argc, char ***argv)
{
	const char *path = getenv("GTK_EYE_LOG"), *ask = getenv("GTK_EYE_ASK");
	int watch;
	(void)argc, (void)argv;
	if (!path || !ask || (watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) < 0 || inotify_add_watch(watch, ask, IN_MODIFY) < 0) return 0;
	if ((out = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) < 0) return 0;
	if (getenv("GTK_EYE_RTL")) gtk_widget_set_default_direction(2);
	g_unix_fd_add(watch, 1, asked, NULL);
	return 0;
}
