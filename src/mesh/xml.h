/* As much XML as VTK's files need: one tag after the other, their attributes, five escapes. */
#ifndef PL_MESH_XML_H
#define PL_MESH_XML_H

#include "mesh/scan.h"

typedef struct pl_xml_tag {
    pl_word name;
    pl_word attributes; /* the text between the name and the end of the tag */
    bool closing;       /* </name> */
    bool empty;         /* <name/> */
} pl_xml_tag;

/* The next tag, with the position just after it; comments and declarations are passed over. At the end
 * of the file the name's length is 0. */
pl_status pl_xml_next(pl_scan *scan, pl_xml_tag *tag);
/* The value of an attribute, escapes and all; false: it is not there. */
bool pl_xml_attribute(const pl_xml_tag *tag, const char *name, pl_word *value);

/* Replaces escapes in place, in text[length]; returns the new length. */
size_t pl_xml_unescape(char *text, size_t length);
/* What stands for a character in an attribute, NULL: the character itself. */
const char *pl_xml_escape(char c);

#endif
