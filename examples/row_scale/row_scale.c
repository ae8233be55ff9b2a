/* y[i][j] = x[i][j] * scale[i] + shift[i] for contiguous row-major arrays; any M and N, zeros included.
 *
 * assay passes ASSAY_T (the element's type) and the tunables as macros: WIDTH, bytes of a vector, and UNROLL, vectors
 * that are under way at once.
 */
#include <stdint.h>
#include <string.h>

typedef ASSAY_T vector __attribute__((vector_size(WIDTH)));

enum { LANES = WIDTH / sizeof(ASSAY_T), STEP = LANES * UNROLL };

void row_scale(const ASSAY_T *restrict x, const ASSAY_T *restrict scale, const ASSAY_T *restrict shift,
               ASSAY_T *restrict y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; i++, x += N, y += N) {
        int64_t j = 0;
        for (; j + STEP <= N; j += STEP) {
            vector v[UNROLL];
            memcpy(v, x + j, sizeof v);
            for (int u = 0; u < UNROLL; u++) v[u] = v[u] * scale[i] + shift[i];
            memcpy(y + j, v, sizeof v);
        }
        for (; j < N; j++) y[j] = x[j] * scale[i] + shift[i];
    }
}
