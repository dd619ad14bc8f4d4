/*
 * A report's life: created empty, filled, joined into one HTML page.
 *
 * The page is src/io/report/page.html, in which @TITLE@, @DATA@ and the names of the other sources
 * between @ signs are replaced.
 */
#include "io/report.h"

#include "core/whole.h"

pl_report_def pl_report_def_default(void)
{
    return (pl_report_def){
        .title = "Pliant", .max_frames = 300, .max_bytes = (size_t)8 << 20, .up = {0, 0, 1}};
}

pl_status pl_report_create(pl_context *ctx, const pl_report_def *def, pl_report **out)
{
    *out = NULL;
    pl_report_def d = def ? *def : pl_report_def_default();
    if (d.max_frames < 2)
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report: max_frames is %d, expected >= 2", d.max_frames);
    double length = sqrt(d.up[0] * d.up[0] + d.up[1] * d.up[1] + d.up[2] * d.up[2]);
    if (!(length > 0) || !isfinite(length))
        return pl_fail(ctx, PL_ERROR_ARGUMENT, "report: up must be a direction, not zero");
    pl_status status = PL_OK;
    pl_report *report;
    PL_NEW(ctx, report, 1, done);
    *report = (pl_report){.ctx = ctx, .def = d};
    pl_text *texts[] = {&report->facts,  &report->trajectories, &report->colliders, &report->contacts,
                        &report->cables, &report->points,       &report->sections};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        texts[i]->ctx = ctx;
    for (int i = 0; i < 3; i++)
        report->def.up[i] /= length;
    report->title = pl_strdup(ctx, d.title ? d.title : "Pliant");
    report->subtitle = d.subtitle ? pl_strdup(ctx, d.subtitle) : NULL;
    if (!report->title || (d.subtitle && !report->subtitle)) {
        pl_report_destroy(report);
        status = PL_ERROR_MEMORY;
        goto done;
    }
    *out = report;
done:
    return status;
}

void pl_report_destroy(pl_report *report)
{
    if (!report)
        return;
    pl_text_free(&report->facts);
    pl_text_free(&report->trajectories);
    pl_text_free(&report->colliders);
    pl_text_free(&report->contacts);
    pl_text_free(&report->cables);
    pl_text_free(&report->points);
    pl_text_free(&report->sections);
    pl_free(report->ctx, report->title);
    pl_free(report->ctx, report->subtitle);
    pl_free(report->ctx, report->headline);
    pl_free(report->ctx, report);
}

pl_status pl_report_end(pl_text *text, int length)
{
    pl_status status = text->status;
    if (status != PL_OK)
        pl_text_cut(text, length);
    return status;
}

void pl_report_next(pl_text *list)
{
    if (list->length > 0)
        pl_text_add(list, ",");
}

pl_status pl_report_set_headline(pl_report *report, const char *text)
{
    char *copy = pl_strdup(report->ctx, text);
    if (!copy)
        return PL_ERROR_MEMORY;
    pl_free(report->ctx, report->headline);
    report->headline = copy;
    return PL_OK;
}

pl_status pl_report_add_fact(pl_report *report, const char *label, const char *value, const char *note)
{
    pl_text *t = &report->facts;
    int length = t->length;
    pl_report_next(t);
    pl_text_add(t, "{\"label\":");
    pl_text_json(t, label);
    pl_text_add(t, ",\"value\":");
    pl_text_json(t, value);
    pl_text_add(t, ",\"note\":");
    pl_text_json(t, note);
    pl_text_add(t, "}");
    return pl_report_end(t, length);
}

static void add_list(pl_text *page, const char *before, const pl_text *list)
{
    pl_text_add(page, before);
    if (list->length)
        pl_text_bytes(page, list->data, (size_t)list->length);
}

static void add_data(pl_text *page, const pl_report *report)
{
    pl_text_add(page, "{\"version\":");
    pl_text_json(page, pl_version());
    pl_text_add(page, ",\"title\":");
    pl_text_json(page, report->title);
    pl_text_add(page, ",\"subtitle\":");
    pl_text_json(page, report->subtitle);
    pl_text_add(page, ",\"headline\":");
    pl_text_json(page, report->headline);
    pl_text_format(page, ",\"failed\":%s", report->failed ? "true" : "false");
    add_list(page, ",\n\"facts\":[", &report->facts);
    pl_text_add(page, "],\n\"view\":{\"up\":");
    pl_text_json_numbers(page, report->def.up, 3, 9);
    add_list(page, ",\n\"trajectories\":[", &report->trajectories);
    add_list(page, "],\n\"colliders\":[", &report->colliders);
    add_list(page, "],\n\"contacts\":[", &report->contacts);
    add_list(page, "],\n\"cables\":[", &report->cables);
    add_list(page, "],\n\"points\":[", &report->points);
    add_list(page, "]},\n\"sections\":[", &report->sections);
    pl_text_add(page, report->section_open ? "]}]}" : "]}");
}

static const pl_embedded *find_source(const char *name, size_t length)
{
    for (const pl_embedded *s = pl_report_sources; s->name; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0)
            return s;
    return NULL;
}

/* What stands for the name between two @ signs; false when it is not one of ours. */
static bool add_named(pl_text *page, const pl_report *report, const char *name, size_t length)
{
    if (length == 5 && memcmp(name, "TITLE", 5) == 0) {
        pl_text_xml(page, report->title);
        return true;
    }
    if (length == 4 && memcmp(name, "DATA", 4) == 0) {
        add_data(page, report);
        return true;
    }
    const pl_embedded *source = find_source(name, length);
    if (source)
        pl_text_bytes(page, source->bytes, source->count);
    return source != NULL;
}

pl_status pl_report_html(const pl_report *report, char **html, size_t *length)
{
    pl_text page = {.ctx = report->ctx};
    const pl_embedded *template = find_source("page.html", 9);
    const char *at = (const char *)template->bytes, *end = at + template->count;
    while (at < end) {
        const char *open = memchr(at, '@', (size_t)(end - at));
        const char *close = open ? memchr(open + 1, '@', (size_t)(end - open - 1)) : NULL;
        if (!close)
            break;
        pl_text_bytes(&page, at, (size_t)(open - at));
        if (add_named(&page, report, open + 1, (size_t)(close - open - 1))) {
            at = close + 1;
        } else {
            pl_text_add(&page, "@");
            at = open + 1;
        }
    }
    pl_text_bytes(&page, at, (size_t)(end - at));
    if (page.status != PL_OK) {
        pl_status status = page.status;
        pl_text_free(&page);
        return status;
    }
    *html = page.data;
    if (length)
        *length = (size_t)page.length;
    return PL_OK;
}

pl_status pl_report_write(const pl_report *report, const char *path)
{
    char *html;
    size_t length;
    PL_TRY(pl_report_html(report, &html, &length));
    pl_status status = pl_write_whole(report->ctx, path, html, length);
    pl_free(report->ctx, html);
    return status;
}
