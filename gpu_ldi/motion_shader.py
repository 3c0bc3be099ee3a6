# SPDX-License-Identifier: GPL-3.0-or-later
"""The shader of `motion`: an invocation takes a moving triangle and notes it in each pixel that it may touch.

It asks what `solver.ldi.rasterise` asks, in 32-bit numbers, and is generous by what these may round (`rounding`): a triangle
may be in a few pixels too many, in none too few. Its depths are right to a twentieth of a pixel, because triangles of which
that cannot be said are not given to it (`solver.ldi.texels`).
"""

from ..solver.ldi.texels import FLOAT_ROUNDING

SOURCE = (
    f"""
#define ROUNDING {FLOAT_ROUNDING}
"""
    + """
vec3 of_vertex(sampler2D values, float number)
{
  int at = int(number);
  return texelFetch(values, ivec2(at % WIDTH, at / WIDTH), 0).xyz;
}

/* The coordinates across the lines, along them, and in depth, seen along axis d. */
vec3 seen(vec3 p, int d) { return d == 0 ? p.yzx : (d == 1 ? p.zxy : p); }

/* Whether a square of half width `half_width` about a point reaches inside of the edge p q. The edge's own rounding counts
   for more the farther the point is from p, at most `far`. */
bool is_inside(vec3 p, vec3 q, float turn, vec2 half_width, float far, vec2 point)
{
  vec2 slope = turn * vec2(p.y - q.y, q.x - p.x);
  return dot(slope, point - p.xy) + dot(abs(slope), half_width) + far >= 0.0;
}

void main()
{
  int t = int(gl_GlobalInvocationID.x) + int(gl_GlobalInvocationID.y) * WIDTH * GROUP;
  if (t >= count) return;
  vec4 triangle = texelFetch(triangles, ivec2(t % WIDTH, t / WIDTH), 0);
  vec3 i = of_vertex(corners, triangle.x), j = of_vertex(corners, triangle.y), k = of_vertex(corners, triangle.z);
  vec3 grown = max(of_vertex(growth, triangle.x), max(of_vertex(growth, triangle.y), of_vertex(growth, triangle.z)));
  vec3 most = max(abs(i), max(abs(j), abs(k))), normal = cross(j - i, k - i), facing = abs(normal);
  float rounding = ROUNDING * (max(most.x, max(most.y, most.z)) + 1.0); /* of a corner, in pixels */
  int d = facing.x >= facing.y ? 0 : 1;
  d = facing[d] >= facing.z ? d : 2;
  i = seen(i, d), j = seen(j, d), k = seen(k, d), normal = seen(normal, d);
  grown = seen(grown, d) + 1e-3 + 4.0 * rounding;
  vec3 low = min(i, min(j, k)), high = max(i, max(j, k));
  ivec2 shape = ivec2(size[(d + 1) % 3], size[(d + 2) % 3]);
  ivec2 first = ivec2(clamp(floor(low.xy - grown.xy), vec2(0.0), vec2(shape)));
  ivec2 last = ivec2(clamp(floor(high.xy + grown.xy), vec2(-1.0), vec2(shape) - 1.0));
  vec2 slope = normal.xy / normal.z, half_width = grown.xy + 0.5;
  float turn = normal.z > 0.0 ? 1.0 : -1.0;
  float far = 4.0 * rounding * (length(high - low) + grown.x + grown.y + 1.0);
  bool is_line = first.x == last.x || first.y == last.y; /* the bounding box decides alone */
  float code = 2.0 * triangle.w + (turn < 0.0 ? 1.0 : 0.0);
  for (int column = first.x + int(gl_GlobalInvocationID.z); column <= last.x; column += strips) {
    int start = last.y + 1, end = first.y; /* rows that are touched: one run, for edges are straight */
    for (int row = first.y; row <= last.y; row++) {
      vec2 point = vec2(float(column), float(row)) + 0.5;
      if (is_line || (is_inside(i, j, turn, half_width, far, point) && is_inside(j, k, turn, half_width, far, point) &&
                      is_inside(k, i, turn, half_width, far, point))) {
        start = min(start, row);
        end = row + 1;
      }
    }
    if (start >= end) continue;
    int at = int(imageAtomicAdd(total, ivec2(0), uint(end - start)));
    for (int row = start; row < end && at < room; row++, at++) {
      float fall = dot(slope, vec2(float(column), float(row)) + 0.5 - i.xy);
      vec4 hit = vec4(float(base[d] + column * shape.y + row), clamp(i.z - fall, low.z, high.z), code, 0.0);
      imageStore(hits, ivec2(at % WIDTH, at / WIDTH), hit);
    }
  }
}
"""
)
