// As App.kt.

@file:Suppress("UNUSED_PARAMETER")

package android.view

open class View {
  var visibility = VISIBLE
  fun setOnClickListener(body: (View) -> Unit) {}

  companion object {
    const val VISIBLE = 0
    const val GONE = 8
  }
}
