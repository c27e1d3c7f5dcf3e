"""What tests look at on a figure."""


def words(figure):
    """Every text on the figure, the footer too."""
    return "\n".join(text.get_text() for text in figure.findobj(match=lambda item: hasattr(item, "get_text")))


def lines(axes, label):
    return [line for line in axes.get_lines() if line.get_label() == label]


def title(axes):
    return axes.get_title(loc="left")


def picture(axes):
    (image,) = axes.get_images()
    return image.get_array()
