# SPDX-License-Identifier: GPL-3.0-or-later
"""The shader of `render`: an invocation takes a triangle and writes its hits to a common list.

Not the card's own rasteriser: that rounds corners to 1/256 of a pixel, so that layers at outlines differ from the CPU's,
and coincident or steep faces need their own passes. The shader asks what `solver.ldi.centres` asks, in the same words
and in 32-bit numbers, so the same pixels are hit save where a centre lies within a rounding error of an edge, and a
closed mesh still has as many entries as exits. All directions and layers come from one pass; large triangles are
shared out by lines of pixels among `strips` invocations.
"""

SOURCE = """
vec3 corner(float number)
{
  int at = int(number);
  return texelFetch(corners, ivec2(at % WIDTH, at / WIDTH), 0).xyz;
}

/* The coordinates across the lines, along them, and in depth, seen along axis d. */
vec3 seen(vec3 p, int d) { return d == 0 ? p.yzx : (d == 1 ? p.zxy : p); }

/* Where the edge p q crosses the line u: the same number for both triangles of the edge. */
float cross_line(float u, vec3 p, vec3 q)
{
  vec3 low = p.x > q.x ? q : p;
  vec3 high = p.x > q.x ? p : q;
  return low.y + (high.y - low.y) * ((u - low.x) / (high.x - low.x));
}

/* First whole number, of 0 to count - 1, from a on, and the first from b on. */
ivec2 span(float a, float b, int count)
{
  return ivec2(int(max(ceil(a), 0.0)), int(min(ceil(b), float(count))));
}

void draw(int t, int d, vec3 i, vec3 j, vec3 k, int strip)
{
  int rows = size[(d + 2) % 3];
  ivec2 lines = span(min(i.x, min(j.x, k.x)), max(i.x, max(j.x, k.x)), size[(d + 1) % 3]);
  float area = (j.x - i.x) * (k.y - i.y) - (j.y - i.y) * (k.x - i.x);
  vec2 slope = vec2(0.0);
  if (area != 0.0) {
    slope = vec2((j.z - i.z) * (k.y - i.y) - (k.z - i.z) * (j.y - i.y),
                 (j.x - i.x) * (k.z - i.z) - (k.x - i.x) * (j.z - i.z)) / area;
  }
  float near = min(i.z, min(j.z, k.z)), far = max(i.z, max(j.z, k.z));
  for (int line = lines.x + strip; line < lines.y; line += strips) {
    float u = float(line), to, out_;
    bool below;
    if ((i.x <= u) == (j.x <= u)) { below = k.x <= u; to = cross_line(u, j, k); out_ = cross_line(u, k, i); }
    else if ((j.x <= u) == (k.x <= u)) { below = i.x <= u; to = cross_line(u, k, i); out_ = cross_line(u, i, j); }
    else { below = j.x <= u; to = cross_line(u, i, j); out_ = cross_line(u, j, k); }
    ivec2 hit = span(min(to, out_), max(to, out_), rows);
    if (hit.x >= hit.y) continue;
    float code = float(2 * t + (below == (to < out_) ? 1 : 0));
    int at = int(imageAtomicAdd(total, ivec2(0), uint(hit.y - hit.x)));
    for (int row = hit.x; row < hit.y && at < room; row++, at++) {
      float depth = clamp(i.z + slope.x * (u - i.x) + slope.y * (float(row) - i.y), near, far);
      imageStore(hits, ivec2(at % WIDTH, at / WIDTH), vec4(float(base[d] + line * rows + row), depth, code, 0.0));
    }
  }
}

void main()
{
  int t = int(gl_GlobalInvocationID.x) + int(gl_GlobalInvocationID.y) * WIDTH * GROUP;
  if (t >= count) return;
  vec4 triangle = texelFetch(triangles, ivec2(t % WIDTH, t / WIDTH), 0);
  vec3 i = corner(triangle.x), j = corner(triangle.y), k = corner(triangle.z);
  int axis = int(triangle.w); /* -1: none, 3: all of them */
  for (int d = 0; d < 3; d++) {
    if (axis == d || axis == 3) draw(t, d, seen(i, d), seen(j, d), seen(k, d), int(gl_GlobalInvocationID.z));
  }
}
"""
