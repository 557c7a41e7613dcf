// As App.kt.

@file:Suppress("UNUSED_PARAMETER")

package android.view

open class View {
  fun setOnClickListener(body: (View) -> Unit) {}
}
