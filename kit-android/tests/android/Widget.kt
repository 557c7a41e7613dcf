// As App.kt.

@file:Suppress("UNUSED_PARAMETER")

package android.widget

import android.content.Context
import android.view.View

open class TextView(context: Context) : View() {
  var text: CharSequence = ""
}

class Button(context: Context) : TextView(context)

class LinearLayout(context: Context) : View() {
  var orientation = 0
  fun addView(child: View) {}

  companion object {
    const val VERTICAL = 1
  }
}
