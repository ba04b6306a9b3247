/* Memory that is given back all at once, and arrays that grow. */
#include "internal.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct arena_block {
    struct arena_block *next;
    size_t size, used;
    _Alignas(16) unsigned char bytes[];
} arena_block;

enum { BLOCK = 16 * 1024 };

/* Without memory there is nothing left to say: the host reports the trap, and the limit that was met. */
static void *must(void *memory) {
    if (!memory) abort();
    return memory;
}

void *arena_alloc(arena *arena, size_t size) {
    size = (size + 15) & ~(size_t)15;
    arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        block = must(malloc(sizeof *block + room));
        *block = (arena_block){arena->blocks, room, 0};
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += size;
    return memset(memory, 0, size);
}

char *arena_print(arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    char *text = arena_alloc(arena, (size_t)(size < 0 ? 0 : size) + 1);
    if (size > 0) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

void arena_free(arena *arena) {
    while (arena->blocks) {
        arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

uint8_t *bytes_extend(bytes *bytes, size_t size) {
    if (bytes->room - bytes->size < size) {
        size_t room = bytes->room * 2;
        if (room < bytes->size + size) room = bytes->size + size;
        bytes->at = must(realloc(bytes->at, room));
        bytes->room = room;
    }
    bytes->size += size;
    return bytes->at + bytes->size - size;
}

void bitmap_push(bitmap *bitmap, size_t row, bool bit) {
    bytes *bits = &bitmap->bits;
    if (!bits->size && bit == bitmap->usual) return;
    uint8_t fill = bitmap->usual ? 0xff : 0;
    size_t missing = bitmap_size(row + 1) - bits->size;
    if (missing) memset(bytes_extend(bits, missing), fill, missing);
    uint8_t mask = (uint8_t)(1u << (row % 8));
    if (bit)
        bits->at[row / 8] |= mask;
    else
        bits->at[row / 8] &= (uint8_t)~mask;
}
