/* libuv's thread pool: four pieces of work on two threads, told to the loop when they are done. */
#include "result.h"
#include <string.h>
#include <uv.h>

static char text[4][1024];
static unsigned sums[4];
static int done;

static void work(uv_work_t *request) {
    size_t which = (size_t)request->data;
    fill(text[which], sizeof text[which] - which);
    for (size_t i = 0; i < sizeof text[which]; i++)
        sums[which] = sums[which] * 31 + (unsigned char)text[which][i];
}

static void after(uv_work_t *request, int status) {
    need(status == 0 && sums[(size_t)request->data] != 0, "not done");
    done++;
}

int main(void) {
    uv_work_t requests[4];
    for (size_t i = 0; i < 4; i++) {
        requests[i].data = (void *)i;
        need(uv_queue_work(uv_default_loop(), &requests[i], work, after) == 0, "not queued");
    }
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    need(done == 4, "not all were told");
    need(uv_loop_close(uv_default_loop()) == 0, "something is left");
    return result(sums, sizeof sums);
}
